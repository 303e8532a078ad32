"""From a model's directory to an engine that has decoded something: the one place that knows every engine.

Native packages are imported here only when a model needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.base import Engine, EngineDescription, SegmentDecoder, StreamOptions
from edge_asr.engines.constrained_families import CONSTRAINED_FAMILIES
from edge_asr.engines.device_guard import GuardedEngine
from edge_asr.engines.instruments import (
    NO_INSTRUMENTS,
    Instruments,
    Stopwatch,
    TimedEngine,
    TimedSegmentDecoder,
    TimedVoiceActivity,
)
from edge_asr.engines.provider_table import CPU
from edge_asr.engines.providers import (
    ProviderChoice,
    choose_provider,
    fitting,
    ort_provider,
    require_format,
)
from edge_asr.errors import EngineFailed, ModelDamaged, ModelUnsupported
from edge_asr.families import FAMILIES, NO_HOTWORDS, ModelFamily
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings

if TYPE_CHECKING:
    from edge_asr.engines.vad import VoiceActivity

WARM_UP_S = 1.0
WARM_UP_RMS = 0.1

TRUST_WINDOWS = 32
"""In batch work, speech once heard is taken to go on for so many windows (1 s) while it stays as loud."""

WITHOUT_SILERO = "speech is told from noise by its energy only; `edge-asr models pull silero-vad` hears better"


def load_engine(
    directory: Path,
    manifest: ModelManifest,
    settings: EngineSettings,
    vad_model: Path | None = None,
    instruments: Instruments = NO_INSTRUMENTS,
    *,
    expects_commands: bool = False,
    given_up: str = "",
) -> Engine:
    """Load a model and let it decode once.

    Loading a damaged model can end the process: the caller has inspected it (``store.inspect``), or loads it in a child
    process (:mod:`edge_asr.engines.trial`).

    Args:
        directory: Where the files are.
        manifest: What they are.
        settings: How they are loaded and decoded.
        vad_model: The silero voice activity model, for families that do not stream; without it speech is told from
            silence by its energy.
        instruments: What to measure it with; the warm-up is not measured.
        expects_commands: Most sessions will be held to spoken commands, or have phrases to expect: a model that can be
            decoded by our own search is loaded for that only, since the same weights twice would take twice the memory.
        given_up: Why the configured provider is not to be tried again.

    Raises:
        ConfigurationError: The provider or the decoding method does not exist, or not for this family.
        ModelError: The model cannot be loaded, or loads and cannot decode.
        ProviderUnavailable: The provider does not run here and ``settings.fallback`` does not allow the CPU.
    """
    family = FAMILIES.get(manifest.family)
    if family is None or not family.recognises_speech:
        raise ModelUnsupported(manifest.name, f"models of the family {manifest.family!r} recognise no speech")
    if family.kind == "streaming":
        engine = _load_streaming(directory, manifest, family, settings, instruments, given_up)
    else:
        engine = _load_segmented(directory, manifest, settings, vad_model, instruments, expects_commands)
    if instruments.stopwatch is None:
        return engine
    instruments.stopwatch.reset()
    return TimedEngine(engine, instruments.stopwatch)


def load_segment_decoder(
    directory: Path, manifest: ModelManifest, settings: EngineSettings, profile_prefix: str = ""
) -> tuple[SegmentDecoder, ProviderChoice]:
    """Load a non-streaming model by itself, for a second pass over finished segments; raises as :func:`load_engine`."""
    family = FAMILIES.get(manifest.family)
    if family is None or family.kind != "segment":
        raise ModelUnsupported(
            manifest.name,
            f"models of the family {manifest.family!r} do not decode whole segments; "
            "name one that does not stream, such as moonshine-tiny-en",
        )
    from edge_asr.engines.sherpa_segment import load_segment_decoder as load

    decoder, choice = load(directory, manifest, family, settings, choose_provider(settings, family), profile_prefix)
    try:
        decoder.decode(_noise(decoder.sample_rate_hz))
    except EngineFailed as error:
        raise ModelDamaged(manifest.name, f"it loads but cannot decode: {error.reason}") from error
    return decoder, choice


def _load_streaming(
    directory: Path,
    manifest: ModelManifest,
    family: ModelFamily,
    settings: EngineSettings,
    instruments: Instruments,
    given_up: str,
) -> Engine:
    require_format(manifest, settings)
    choice = fitting(choose_provider(settings, family, given_up), manifest, settings)
    if ort_provider(choice.provider):
        from edge_asr.engines.ort_served import load_ort as load
    else:
        from edge_asr.engines.sherpa_online import load_online as load
    engine = load(directory, manifest, family, settings, choice, instruments.profile_prefix)
    try:
        _warm_up(engine)
    except EngineFailed as error:
        raise ModelDamaged(manifest.name, f"it loads but cannot decode: {error.reason}") from error
    return engine if choice.provider == CPU else GuardedEngine(engine, choice.provider)


def _load_segmented(
    directory: Path,
    manifest: ModelManifest,
    settings: EngineSettings,
    vad_model: Path | None,
    instruments: Instruments,
    expects_commands: bool,
) -> Engine:
    from edge_asr.engines.segmented import SegmentedEngine
    from edge_asr.engines.vad import VAD_RATE_HZ

    if manifest.sample_rate_hz != VAD_RATE_HZ:
        raise ModelUnsupported(manifest.name, f"non-streaming models of {manifest.sample_rate_hz} Hz are not supported")
    takes_constraints = manifest.family in CONSTRAINED_FAMILIES
    open_constrained = partial(_load_constrained, directory, manifest, settings) if takes_constraints else None
    if expects_commands and open_constrained is not None:
        decoder, choice = open_constrained(), choose_provider(settings, FAMILIES[manifest.family])
        open_constrained = None
    else:
        decoder, choice = load_segment_decoder(directory, manifest, settings, instruments.profile_prefix)
    description = EngineDescription(
        model=manifest.name,
        family=manifest.family,
        provider=choice.label,
        threads=settings.threads,
        sample_rate_hz=manifest.sample_rate_hz,
        chunk_ms=0.0,
        tail_padding_ms=0.0,
        is_streaming=False,
        takes_constraints=takes_constraints,
        why_no_hotwords="" if takes_constraints else NO_HOTWORDS,
        may_imagine=True,
        notes=choice.notes if vad_model else (*choice.notes, WITHOUT_SILERO),
    )
    detectors = _detectors(vad_model, settings.vad_threshold)
    if instruments.stopwatch is not None:
        decoder = TimedSegmentDecoder(decoder, instruments.stopwatch)
        detectors = _timed(detectors, instruments.stopwatch)
    engine = SegmentedEngine(decoder, description, settings, detectors, open_constrained=open_constrained)
    engine.open_stream(StreamOptions()).close()  # the first stream finds its detector loaded
    return engine


def _load_constrained(directory: Path, manifest: ModelManifest, settings: EngineSettings) -> SegmentDecoder:
    from edge_asr.engines.ort_constrained import load_constrained_decoder

    decoder = load_constrained_decoder(directory, manifest, settings)
    decoder.decode(_noise(decoder.sample_rate_hz))
    return decoder


def _detectors(vad_model: Path | None, threshold: float) -> Callable[[bool], VoiceActivity]:
    """What makes the detector of a stream, given whether the stream is batch work."""
    from edge_asr.engines.vad import EnergyVoiceActivity, SileroVoiceActivity, load_silero

    if vad_model is None:
        return lambda _is_batch: EnergyVoiceActivity()
    return lambda is_batch: SileroVoiceActivity(load_silero(vad_model, threshold), TRUST_WINDOWS if is_batch else 0)


def _timed(open_activity: Callable[[bool], VoiceActivity], stopwatch: Stopwatch) -> Callable[[bool], VoiceActivity]:
    return lambda is_batch: TimedVoiceActivity(open_activity(is_batch), stopwatch)


def _warm_up(engine: Engine) -> None:
    """Noise, so that decoder and token table take part too."""
    stream = engine.open_stream(StreamOptions())
    stream.accept(_noise(engine.sample_rate_hz))
    stream.finish()
    while stream.is_ready():
        engine.decode([stream])
    stream.hypothesis()
    stream.close()


def _noise(sample_rate_hz: int) -> Float32Array:
    generator = np.random.default_rng(0)
    return (WARM_UP_RMS * generator.standard_normal(round(WARM_UP_S * sample_rate_hz))).astype(np.float32)
