"""From a ``Configure`` to an engine that has decoded something: look before you load, since loading can end a process.

Runs in the worker, after it has pinned itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from edge_asr.engines.instruments import NO_INSTRUMENTS, Instruments
from edge_asr.engines.registry import load_engine, load_segment_decoder
from edge_asr.errors import NotEnoughMemory
from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelManifest
from edge_asr.pipeline.confidence import Calibration
from edge_asr.pipeline.writing import Writer, WritingBook
from edge_asr.resources.memory import available_bytes
from edge_asr.settings import EngineSettings
from edge_asr.workers.command_loading import listening
from edge_asr.workers.companions import inspected, require_same_rate
from edge_asr.workers.configuration import WorkerConfiguration, unpack
from edge_asr.workers.hotword_loading import hotword_book, require_hotwords_possible
from edge_asr.workers.loaded_model import LoadedModel, SecondModel
from edge_asr.workers.memory_estimate import memory_for
from edge_asr.workers.messages import Configure
from edge_asr.workers.speaker_loading import load_speakers
from edge_asr.workers.wake_loading import load_spotter


def load_model(configure: Configure, instruments: Instruments = NO_INSTRUMENTS) -> LoadedModel:
    """Inspect the model, see that it fits, load it and let it decode once.

    Args:
        configure: Which model, and how.
        instruments: What the bench measures it with.

    Raises:
        ConfigurationError: The sentence templates or the hotwords cannot be used.
        ModelError: The model is missing, damaged or not for this engine.
        MachineError: The provider does not run here, or memory is short.
    """
    directory = Path(configure.model_directory)
    manifest = inspected(directory)
    require_memory(directory, manifest, available_bytes())
    vad_model = Path(configure.vad_model) if configure.vad_model else None
    settings = unpack(configure)
    engine_settings = with_parallel_streams(settings.engine, len(os.sched_getaffinity(0)))
    require_hotwords_possible(manifest, engine_settings, configure.hotwords)
    with listening(directory, manifest, engine_settings, settings.commands, configure.commands) as (book, adapted):
        engine = load_engine(
            directory,
            manifest,
            adapted,
            vad_model,
            instruments,
            expects_commands=bool(configure.commands or configure.hotwords),
            given_up=configure.given_up,
        )
    hotwords = hotword_book(directory, manifest, adapted, configure.hotwords)
    second = load_second(Path(configure.second_model), manifest, settings) if configure.second_model else None
    spotter = load_spotter(Path(configure.wake_model), manifest, settings.wake) if configure.wake_model else None
    is_written = writes_sentences(manifest) or (second is not None and second.writes_sentences)
    writing = WritingBook(settings.text, manifest.languages, punctuation_of(configure), is_written=is_written)
    return LoadedModel(
        engine,
        manifest.languages,
        text_case=manifest.text_case,
        # It tells of finals, and of the model's own graph.
        words_note="" if second or adapted.graph else manifest.words_note,
        commands=book,
        hotwords=hotwords,
        writing=writing,
        second=second,
        open_spotter=spotter,
        speakers=load_speakers(configure, settings.speakers),
        calibration=Calibration(manifest.confidence),
    )


def load_second(directory: Path, first: ModelManifest, settings: WorkerConfiguration) -> SecondModel:
    """The model that hears segments again, decoded once.

    Raises:
        ConfigurationError: It cannot stand behind the first one.
        ModelError: It is missing, damaged or no model for whole segments.
        MachineError: The provider does not run here, or memory is short.
    """
    manifest = inspected(directory)
    require_same_rate("second_pass.model", manifest, first)
    require_memory(directory, manifest, available_bytes())
    engine = EngineSettings(
        provider=settings.engine.provider,
        fallback=settings.engine.fallback,
        threads=settings.second_pass.threads,
        memory_profile=settings.engine.memory_profile,
    )
    decoder, _choice = load_segment_decoder(directory, manifest, engine)
    return SecondModel(decoder, manifest.text_case, writes_sentences(manifest), manifest.name)


def writes_sentences(manifest: ModelManifest) -> bool:
    """Whether the model writes capitals and punctuation itself."""
    family = FAMILIES.get(manifest.family)
    return family is not None and family.writes_sentences


def punctuation_of(configure: Configure) -> Callable[[], Writer] | None:
    """What loads the punctuation model, after a look at its files; ``None`` where none is installed."""
    if not configure.punctuation_model:
        return None

    def load() -> Writer:
        from edge_asr.engines.punctuation import load_punctuation

        directory = Path(configure.punctuation_model)
        return load_punctuation(directory, inspected(directory))

    return load


def with_parallel_streams(settings: EngineSettings, cores: int) -> EngineSettings:
    """The settings with a number in place of ``auto``: every core has a thread, as far as whole streams go."""
    if settings.parallel_streams != "auto":
        return settings
    return replace(settings, parallel_streams=min(64, max(1, cores // settings.threads)))


def require_memory(directory: Path, manifest: ModelManifest, free_bytes: int) -> None:
    """Refuse a model that does not fit, before the kernel's out-of-memory killer does.

    Args:
        directory: Where the files are.
        manifest: Which files they are.
        free_bytes: Memory that can be used without swapping.

    Raises:
        NotEnoughMemory: With both figures.
    """
    needed = needed_bytes(directory, manifest)
    if needed > free_bytes:
        raise NotEnoughMemory(needed >> 20, free_bytes >> 20, f"model {manifest.name!r}")


def needed_bytes(directory: Path, manifest: ModelManifest) -> int:
    """What a worker with this model takes, by the size of its files."""
    file_bytes = sum((directory / file.path).stat().st_size for file in manifest.files.values())
    return memory_for(manifest, file_bytes)
