"""Settings on their way to a worker: packed into ``Configure`` by the front, unpacked by the worker."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from edge_asr.commands.files import read_command_files, read_hotword_file
from edge_asr.settings import (
    CommandSettings,
    EndpointSettings,
    EngineSettings,
    GateSettings,
    SchedulerSettings,
    SecondPassSettings,
    Settings,
    SpeakerSettings,
    TextSettings,
    WakeSettings,
    WorkerSettings,
)
from edge_asr.workers.messages import Configure

if TYPE_CHECKING:  # workers read the groups too, and need nothing of the store behind the voices
    from edge_asr.workers.enrolled import EnrolledVoices


@dataclass(frozen=True, slots=True)
class WorkerConfiguration:
    """The groups a worker uses."""

    engine: EngineSettings
    endpoint: EndpointSettings
    scheduler: SchedulerSettings
    gate: GateSettings = field(default_factory=GateSettings)
    wake: WakeSettings = field(default_factory=WakeSettings)
    second_pass: SecondPassSettings = field(default_factory=SecondPassSettings)
    speakers: SpeakerSettings = field(default_factory=SpeakerSettings)
    text: TextSettings = field(default_factory=TextSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    commands: CommandSettings = field(default_factory=CommandSettings)


WORKER_GROUPS = tuple(group.name for group in fields(WorkerConfiguration))
"""Their names; a change of any of them takes a fresh worker."""


def pack(
    directory: Path,
    settings: Settings,
    vad_model: Path | None,
    punctuation_model: Path | None = None,
    second_model: Path | None = None,
    wake_model: Path | None = None,
    voices: EnrolledVoices | None = None,
) -> Configure:
    """The first message to a worker.

    Args:
        directory: The model's files and its manifest.
        settings: Where the groups are taken from.
        vad_model: File of the voice activity detector, where one is installed.
        punctuation_model: Directory of the punctuation model, where one is installed.
        second_model: Directory of the model that hears segments again.
        wake_model: Directory of the model that hears the wake words.
        voices: What tells speakers apart.

    Raises:
        ConfigurationError: The files of spoken commands or hotwords cannot be read.
    """
    groups = {name: msgspec.to_builtins(getattr(settings, name)) for name in WORKER_GROUPS}
    commands = read_command_files(Path(settings.commands.file)) if settings.commands.file else {}
    hotwords = read_hotword_file(Path(settings.engine.hotwords_file)) if settings.engine.hotwords_file else {}
    return Configure(
        str(directory),
        groups,
        _or_none(vad_model),
        _or_none(punctuation_model),
        commands=commands,
        hotwords=hotwords,
        second_model=_or_none(second_model),
        wake_model=_or_none(wake_model),
        speaker_model=_or_none(voices.model.directory if voices else None),
        voices=dict(voices.embeddings) if voices else {},
        voices_note=voices.note if voices else "",
    )


def _or_none(path: Path | None) -> str:
    return "" if path is None else str(path)


def unpack(configure: Configure) -> WorkerConfiguration:
    """The groups of a ``Configure``; unknown or wrong values are a ``msgspec.ValidationError``."""
    return msgspec.convert(configure.settings, WorkerConfiguration)
