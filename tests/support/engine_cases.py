"""Every engine with audio it recognises: what the contract suite runs over."""

from __future__ import annotations

import functools
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

import edge_asr
from edge_asr.audio import Float32Array
from edge_asr.engines.base import Engine, EngineDescription, EngineStream, Hypothesis, StreamOptions
from edge_asr.engines.registry import load_engine
from edge_asr.engines.scripted import ScriptedEngine, ScriptedSegmentDecoder, ScriptedWord
from edge_asr.engines.segmented import SegmentedEngine
from edge_asr.engines.vad import EnergyVoiceActivity
from edge_asr.manifest import MANIFEST_FILE, read_manifest
from edge_asr.settings import EngineSettings
from tests.support import tiny_models
from tests.support.fetched_models import fetched_model

PACKAGE = Path(edge_asr.__file__).parent
STARTER = PACKAGE.parent / "models" / "starter-en"


@dataclass(frozen=True)
class EngineCase:
    """An engine and speech for it."""

    name: str
    load: Callable[[], Engine]
    speech: Callable[[int], Float32Array]
    """From a sampling rate to audio that begins and ends with speech, the last sample included."""
    text: str
    """Its words: lower case, no punctuation."""
    cycles: bool = False
    """A tiny model: which word comes depends on those before, or on where in a step the sound lies."""
    is_deaf: bool = False
    """The words come whatever is heard."""
    provider: str = "cpu"
    """What it says that it runs on."""
    time_tolerance_s: float = 0.1
    """How far outside the speech a token may be said to begin."""

    def after_silence(self, rate: int) -> Float32Array:
        """The speech after two seconds of silence, ending with its last sample."""
        return np.concatenate([silence(2.0, rate), self.speech(rate)])

    def amid_silence(self, rate: int) -> Float32Array:
        """The speech between two seconds of silence and two more."""
        return np.concatenate([silence(2.0, rate), self.speech(rate), silence(2.0, rate)])


def words(text: str) -> str:
    """Lower case, without punctuation, which depends on how the audio ends."""
    return " ".join(re.sub(r"[^\w\s'-]", "", text).lower().split())


def clip(name: str) -> Float32Array:
    """A bundled recording, 16 kHz."""
    samples, rate = soundfile.read(PACKAGE / "clips" / f"{name}.flac", dtype="float32")
    assert rate == 16_000
    return np.asarray(samples, np.float32)


def noise(duration_s: float, rate: int, rms: float = 0.1) -> Float32Array:
    """White noise, the same each time."""
    generator = np.random.default_rng(7)
    return (rms * generator.standard_normal(round(duration_s * rate))).astype(np.float32)


def silence(duration_s: float, rate: int) -> Float32Array:
    return np.zeros(round(duration_s * rate), np.float32)


def decode_ready(engine: Engine, streams: Sequence[EngineStream]) -> list[list[Hypothesis]]:
    """Decode the streams together until none is ready; the complete hypotheses of each, reset as the contract says."""
    complete: list[list[Hypothesis]] = [[] for _ in streams]
    while ready := [stream for stream in streams if stream.is_ready()]:
        engine.decode(ready)
        for stream, done in zip(streams, complete, strict=True):
            if stream.hypothesis().is_complete:
                done.append(stream.hypothesis())
                stream.reset()
    return complete


def feed(engine: Engine, stream: EngineStream, samples: Float32Array, piece: int) -> list[Hypothesis]:
    """Feed audio in pieces of so many samples, decoding after each."""
    complete = []
    for start in range(0, len(samples), piece):
        stream.accept(samples[start : start + piece])
        complete += decode_ready(engine, [stream])[0]
    return complete


def text_of(engine: Engine, samples: Float32Array, piece: int, options: StreamOptions | None = None) -> str:
    """The whole text of one recording."""
    stream = engine.open_stream(options or StreamOptions())
    complete = feed(engine, stream, samples, piece)
    stream.finish()
    complete += decode_ready(engine, [stream])[0]
    text = " ".join([*(hypothesis.text for hypothesis in complete), stream.hypothesis().text])
    stream.close()
    return text.strip()


def load_tiny(family: str, write: Callable[[Path], dict[str, Path]], provider: str = "cpu") -> Engine:
    with tempfile.TemporaryDirectory() as directory:
        files = write(Path(directory))
        settings = EngineSettings(provider=provider)
        return load_engine(Path(directory), tiny_models.tiny_manifest(family, files), settings)


def load_starter(provider: str = "cpu", name: str = "starter-en") -> Engine:
    directory = STARTER.parent / name
    settings = EngineSettings(provider=provider, parallel_streams=2)
    return load_engine(directory, read_manifest(directory / MANIFEST_FILE), settings)


def load_moonshine() -> Engine:
    model = fetched_model("moonshine-tiny-en")
    silero = fetched_model("silero-vad")
    vad_model = silero.directory / silero.manifest.files["model"].path
    return load_engine(model.directory, model.manifest, EngineSettings(), vad_model)


def load_scripted_segments() -> Engine:
    """Says how many tenths of a second it heard sound for."""

    def tenths(samples: Float32Array) -> str:
        return f"heard {round(np.count_nonzero(np.abs(samples) > 1e-3) / 1600)}"

    description = EngineDescription("scripted", "scripted", "cpu", 1, 16_000, 0.0, 0.0, is_streaming=False)
    return SegmentedEngine(
        ScriptedSegmentDecoder(tenths), description, EngineSettings(), lambda _is_batch: EnergyVoiceActivity()
    )


def load_scripted() -> Engine:
    words = [ScriptedWord("one", 2.3), ScriptedWord("two", 3.0)]
    return ScriptedEngine(words, chunk_ms=320, look_ahead_ms=130)


def _loud(rate: int) -> Float32Array:
    return noise(1.0, rate)


def _spoken(name: str, begin_s: float, end_s: float, _rate: int) -> Float32Array:
    return clip(name)[round(begin_s * 16_000) : round(end_s * 16_000)]


_WITHOUT_GRAPH = functools.partial(_spoken, "eight-one-zero-five-george", 0.0, 1.79)
"""What starter-en hears right by itself; of "go forward ten meters" it needs the graph."""


def _compiled() -> tuple[EngineCase, ...]:
    """A model compiled for Qualcomm's NPU, whose simulator takes minutes: only where ``tools/npu_contract`` asks."""
    folder = os.environ.get("EDGE_ASR_TEST_QNN_MODEL")
    if not folder:
        return ()
    directory = Path(folder)
    settings = EngineSettings(provider="qnn")
    return (
        EngineCase(
            "starter-en-fp32 on Qualcomm's NPU",
            lambda: load_engine(directory, read_manifest(directory / MANIFEST_FILE), settings),
            _WITHOUT_GRAPH,
            "eight one zero five",
            provider="qnn",
        ),
    )


_CYCLE = "one two three four"
_FROM_TWO = "two three four one"

CASES = (
    EngineCase("scripted", load_scripted, _loud, "one two", is_deaf=True),
    EngineCase(
        "starter-en", load_starter, functools.partial(_spoken, "go-forward", 0.45, 2.0), "go forward ten meters"
    ),
    EngineCase(
        "starter-en-fp32 by ONNX Runtime",
        functools.partial(load_starter, "ort:CPU", "starter-en-fp32"),
        _WITHOUT_GRAPH,
        "eight one zero five",
        provider="ort:CPU",
    ),
    EngineCase(
        "starter-en-transducer by ONNX Runtime",
        functools.partial(load_starter, "ort:CPU", "starter-en-transducer"),
        _WITHOUT_GRAPH,
        "eight one zero five",
        provider="ort:CPU",
    ),
    EngineCase(
        "lstm-transducer by ONNX Runtime",
        functools.partial(load_tiny, "lstm-transducer", tiny_models.write_lstm_transducer, "ort:CPU"),
        _loud,
        f"{' '.join([_CYCLE] * 6)} one two",
        cycles=True,
        provider="ort:CPU",
    ),
    EngineCase(
        "nemo-ctc-streaming by ONNX Runtime",
        functools.partial(load_tiny, "nemo-ctc-streaming", tiny_models.write_nemo_ctc_streaming, "ort:CPU"),
        _loud,
        " ".join([_FROM_TWO] * 6),
        cycles=True,
        provider="ort:CPU",
    ),
    EngineCase(
        "wenet-ctc-streaming by ONNX Runtime",
        functools.partial(load_tiny, "wenet-ctc-streaming", tiny_models.write_wenet_ctc_streaming, "ort:CPU"),
        _loud,
        " ".join([_FROM_TWO] * 6),
        cycles=True,
        provider="ort:CPU",
    ),
    EngineCase(
        "lstm-transducer",
        functools.partial(load_tiny, "lstm-transducer", tiny_models.write_lstm_transducer),
        _loud,
        f"{' '.join([_CYCLE] * 6)} one two",
        cycles=True,
    ),
    EngineCase(
        "lstm-transducer of 1.28 s",
        functools.partial(
            load_tiny, "lstm-transducer", functools.partial(tiny_models.write_lstm_transducer, chunk_frames=128)
        ),
        _loud,
        f"{' '.join([_CYCLE] * 6)} one two",
        cycles=True,
    ),
    EngineCase(
        "nemo-ctc-streaming",
        functools.partial(load_tiny, "nemo-ctc-streaming", tiny_models.write_nemo_ctc_streaming),
        _loud,
        " ".join([_FROM_TWO] * 6),
        cycles=True,
    ),
    EngineCase(
        "wenet-ctc-streaming",
        functools.partial(load_tiny, "wenet-ctc-streaming", tiny_models.write_wenet_ctc_streaming),
        _loud,
        " ".join([_FROM_TWO] * 6),
        cycles=True,
    ),
    EngineCase(
        "t-one-ctc",
        functools.partial(load_tiny, "t-one-ctc", tiny_models.write_t_one_ctc),
        _loud,
        # Ten output frames a step, which is no multiple of the cycle.
        "one two three four one two three four one two one two three four one two three four one two "
        "one two three four one two three four one two one two three four",
        cycles=True,
    ),
    EngineCase(
        "paraformer-streaming",
        functools.partial(load_tiny, "paraformer-streaming", tiny_models.write_paraformer_streaming),
        _loud,
        " ".join(["one"] * 16),
        cycles=True,
        time_tolerance_s=0.7,  # it gives no times: tokens are placed where they came
    ),
    EngineCase("segmented scripted", load_scripted_segments, _loud, "heard 10", time_tolerance_s=0.4),
    EngineCase(
        "segmented nemo-ctc",
        functools.partial(load_tiny, "nemo-ctc", tiny_models.write_nemo_ctc_offline),
        _loud,
        " ".join([_FROM_TWO] * 6),
        cycles=True,
    ),
    EngineCase(
        "moonshine", load_moonshine, functools.partial(_spoken, "go-forward", 0.45, 2.0), "go forward ten meters"
    ),
    *_compiled(),
)
