"""The work of ``speakers enroll``: recordings to one voice, and what is odd about them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import click
import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.cli import exit_codes
from edge_asr.cli.messages import complain, remark, warn
from edge_asr.cli.recordings import open_recordings
from edge_asr.engines.samples import usable
from edge_asr.engines.speaker import SHORTEST_S, SpeakerModel, load_speaker_model, speech_in
from edge_asr.engines.trial import trial_load
from edge_asr.errors import ConfigurationError, EngineFailed, InputError, TooLittleSpeech
from edge_asr.pipeline.voices import Voices, direction, mean_direction
from edge_asr.settings import EngineSettings, Settings, SpeakerSettings
from edge_asr.sources.base import AudioSource
from edge_asr.store.inspect import inspect_model
from edge_asr.store.speakers import EnrolledSpeaker, checked_name
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.workers.enrolled import speaker_model

LONGEST_RECORDING_S = 60.0
"""What is read of one recording."""


@dataclass(frozen=True, slots=True)
class _Recording:
    file: str
    embedding: Float32Array
    speech_s: float


def enroll_voice(store: ModelStore, settings: Settings, name: str, files: Sequence[str]) -> int:
    """Make one voice of the recordings that can be used, and keep it.

    Returns:
        The exit code: recordings that cannot be used are named on standard error.

    Raises:
        ConfigurationError: No embedding model is named, or the name is none.
        ModelError: The model cannot be used.
        MachineError: The store cannot be written.
    """
    name = checked_name(name)
    installed = _model(store, settings.speakers)
    inspect_model(installed.directory, installed.manifest)
    trial_load(installed.directory, installed.manifest, EngineSettings())
    model = load_speaker_model(installed.directory, installed.manifest)
    recordings, status = [], exit_codes.DONE
    for file in files:
        try:
            recordings.append(_heard(file, model))
        except (InputError, EngineFailed) as error:
            complain(str(error))
            status = exit_codes.INPUT
    if not recordings:
        complain(f"no recording of {name} can be used, so nothing was enrolled")
        return exit_codes.INPUT
    voice = mean_direction([recording.embedding for recording in recordings])
    _warn_of_other_people(recordings, settings.speakers.threshold)
    _warn_of_likeness(store, installed, name, voice, settings.speakers.threshold)
    enrolled = EnrolledSpeaker(
        name=name,
        model=installed.manifest.name,
        digest=installed.manifest.files["model"].sha256,
        embedding=tuple(voice.tolist()),
        recordings=len(recordings),
        speech_s=sum(recording.speech_s for recording in recordings),
    )
    path = store.speakers.write(enrolled)
    remark(
        f"enrolled {name} from {enrolled.speech_s:.1f} s of speech in {path}; a running daemon takes it when reloaded"
    )
    click.echo(name)
    return status


def _model(store: ModelStore, settings: SpeakerSettings) -> InstalledModel:
    if settings.model:
        return speaker_model(store, settings.model)
    installed = store.of_kind("speaker")
    if installed is None:
        raise ConfigurationError(
            "no speaker embedding model is installed; `edge-asr models list` names those that can be fetched, and "
            "`edge-asr models import` takes your own"
        )
    return installed


def _heard(file: str, model: SpeakerModel) -> _Recording:
    """Raises: InputError: It cannot be read, or holds too little speech. EngineFailed: The network fails on it."""
    ((_, source),) = open_recordings(file, "mix", None)
    with closing(source):
        samples, rate_hz = _beginning(source), source.sample_rate_hz
    embedding = model.embedding(samples, rate_hz)
    if embedding is None:
        raise TooLittleSpeech(file, SHORTEST_S)
    return _Recording(file, direction(embedding), len(speech_in(usable(samples), rate_hz)) / rate_hz)


def _beginning(source: AudioSource) -> Float32Array:
    pieces, missing = [], round(LONGEST_RECORDING_S * source.sample_rate_hz)
    for chunk in source:
        pieces.append(chunk.samples[:missing])
        missing -= len(pieces[-1])
        if not missing:
            break
    return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)


def _warn_of_other_people(recordings: Sequence[_Recording], threshold: float) -> None:
    """A recording that is unlike all the others of the same person is somebody else's, or a bad one."""
    for index, recording in enumerate(recordings):
        others = [other.embedding for other in (*recordings[:index], *recordings[index + 1 :])]
        likeness = max((float(other @ recording.embedding) for other in others), default=1.0)
        if likeness < threshold:
            warn(f"{recording.file} is unlike the other recordings ({likeness:.2f}): is it the same person?")


def _warn_of_likeness(
    store: ModelStore, installed: InstalledModel, name: str, voice: Float32Array, threshold: float
) -> None:
    others = {
        each.name: each.embedding
        for each in store.speakers.read().speakers
        if each.name != name and each.is_of(installed.manifest)
    }
    nearest = Voices(others, threshold).who(voice)
    if nearest is not None and nearest.name is not None:
        warn(f"the voice of {name} is like that of {nearest.name} ({nearest.score:.2f}): they will be mistaken")
