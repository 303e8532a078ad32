"""The work of ``transcribe``: load the model once, then one recording after the other."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from edge_asr.audio import AudioChunk
from edge_asr.cli import exit_codes
from edge_asr.cli.messages import complain, remark, warn
from edge_asr.cli.model_notes import notes_on
from edge_asr.cli.recording_progress import PartialLine, Show, recording_bar
from edge_asr.cli.recordings import STANDARD_INPUT, open_recordings
from edge_asr.cli.stores import choose_model, open_store
from edge_asr.cli.transcript_output import TranscriptOutput, open_output
from edge_asr.cli.transcripts import RecordingTranscript, TranscriptFormat
from edge_asr.clock import MonotonicClock
from edge_asr.errors import ConfigurationError, InputError, SessionError
from edge_asr.events import Final, Partial, TranscriptEvent
from edge_asr.manifest import ModelManifest
from edge_asr.requests import Channel, SessionOptions
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.settings import Settings
from edge_asr.sources.base import AudioSource
from edge_asr.sources.paced import PacedSource
from edge_asr.sources.pcm import PcmLayout, parse_layout
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.store.voice_activity import installed_vad
from edge_asr.transcription import transcribe
from edge_asr.workers.configuration import pack
from edge_asr.workers.enrolled import enrolled_voices
from edge_asr.workers.hotword_loading import expecting
from edge_asr.workers.inline_loop import inline_loop
from edge_asr.workers.loaded_model import LoadedModel
from edge_asr.workers.loading import load_model
from edge_asr.workers.models import installed_punctuation, second_model

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asked for, checked."""

    files: tuple[str, ...]
    transcript_format: TranscriptFormat
    output: str | None
    channel: Channel | Literal["each"]
    layout: PcmLayout | None
    """How samples without a header are written; ``None``: recordings have headers."""
    is_realtime: bool
    has_partials: bool

    @classmethod
    def checked(
        cls,
        *,
        files: tuple[str, ...],
        transcript_format: str,
        output: str | None,
        channel: str,
        raw: str | None,
        is_realtime: bool,
        has_partials: bool,
    ) -> Wishes:
        """From the words of the command line.

        Raises:
            ConfigurationError: They do not go together, or the raw format is wrong.
        """
        if files.count(STANDARD_INPUT) > 1:
            raise ConfigurationError("standard input can be read only once; write `-` once")
        return cls(
            files=files,
            transcript_format=cast("TranscriptFormat", transcript_format),
            output=output,
            channel=cast('Channel | Literal["each"]', channel),
            layout=parse_layout(raw) if raw is not None else None,
            is_realtime=is_realtime,
            has_partials=has_partials,
        )

    @property
    def session_options(self) -> SessionOptions:
        """What is asked of each recording's session."""
        return SessionOptions(partials=self.has_partials, is_batch=not (self.is_realtime or self.has_partials))


def run_job(wishes: Wishes, settings: Settings) -> int:
    """Transcribe every recording.

    Returns:
        The exit code: recordings that cannot be used are named on standard error and do not end the job.

    Raises:
        EdgeAsrError: The model or the place for the transcripts cannot be used; nothing was done.
    """
    with open_output(
        wishes.output,
        wishes.transcript_format,
        wishes.files,
        is_each_channel=wishes.channel == "each",
        with_events=wishes.has_partials,
    ) as output:
        store = open_store()
        model = choose_model(store, settings.model, prefers_dictation=not settings.second_pass.model)
        settings = heeding_hotwords(settings, model.manifest)
        loaded = _load(store, model, settings)
        clock = MonotonicClock()
        job = _Job(wishes, inline_loop(loaded, settings, clock), model.manifest.name, output, clock, loaded.notes)
        try:
            with recording_bar(len(wishes.files), is_wanted=not wishes.has_partials) as show:
                for number, file in enumerate(wishes.files):
                    job.transcribe_file(file, number, show)
            output.finish()
        finally:
            loaded.engine.close()
    return job.status


def heeding_hotwords(settings: Settings, manifest: ModelManifest) -> Settings:
    """The settings, with beam search where there are hotwords and no other way of decoding heeds them."""
    return replace(settings, engine=expecting(settings.engine, manifest)) if settings.engine.hotwords_file else settings


def _load(store: ModelStore, model: InstalledModel, settings: Settings) -> LoadedModel:
    second = second_model(store, model.manifest, settings.second_pass)
    behind = second.directory if second else None
    voices = enrolled_voices(store, settings.speakers)
    vad, punctuation = installed_vad(store), installed_punctuation(store)
    loaded = load_model(pack(model.directory, settings, vad, punctuation, behind, voices=voices))
    for note in (*notes_on(store, model, settings), *loaded.notes):
        remark(note)
    return loaded


@dataclass(slots=True)
class _Job:
    wishes: Wishes
    loop: DecodeLoop
    model: str
    output: TranscriptOutput
    clock: MonotonicClock
    notes: tuple[str, ...]
    """What was said of the model, and so of every recording."""
    status: int = exit_codes.DONE
    partials: PartialLine = field(default_factory=PartialLine)

    def transcribe_file(self, file: str, number: int, show: Show) -> None:
        """All channels that are wanted of one FILE; what fails is said and remembered in ``status``."""
        show(file, number)
        try:
            for channel, source in open_recordings(file, self.wishes.channel, self.wishes.layout):
                with closing(source):
                    self._transcribe_source(file, channel, source, number, show)
        except InputError as error:
            self._fail(str(error), exit_codes.INPUT)
        except SessionError as error:
            self._fail(f"{file}: {error}", exit_codes.FAULT)

    def _transcribe_source(self, file: str, channel: str, source: AudioSource, number: int, show: Show) -> None:
        def hear(event: TranscriptEvent) -> None:
            if isinstance(event, Partial | Final):
                self._hear(file, channel, event)

        paced = PacedSource(source, self.clock, time.sleep) if self.wishes.is_realtime else source
        chunks = _watched(paced, lambda done: show(file, number + done))
        transcript = transcribe(self.loop, chunks, self.wishes.session_options, self.clock, hear)
        self.partials.clear()
        _log.info("%s: %.1f s of audio, real-time factor %.4f", file, transcript.audio_s, transcript.rtf)
        warnings = (*source.warnings, *transcript.remarks)
        for warning in warnings:
            if warning not in self.notes:  # said already, of all recordings
                warn(f"{file}: {warning}")
        self.output.transcript(
            RecordingTranscript(
                file=file,
                channel=channel,
                model=self.model,
                duration_s=transcript.audio_s,
                finals=transcript.finals,
                rtf=transcript.rtf,
                warnings=warnings,
            )
        )

    def _hear(self, file: str, channel: str, event: Partial | Final) -> None:
        self.partials.clear()
        self.output.event(file, channel, event)
        if isinstance(event, Partial) and self.wishes.transcript_format != "jsonl":
            self.partials.show(event.text)

    def _fail(self, sentence: str, status: int) -> None:
        self.partials.clear()
        complain(sentence)
        # A fault of the program says more than a bad recording.
        self.status = exit_codes.FAULT if exit_codes.FAULT in (self.status, status) else status


def _watched(source: AudioSource, show: Callable[[float], None]) -> Iterator[AudioChunk]:
    """The chunks; ``show`` hears which part of the recording was handed out."""
    duration_s = source.duration_s
    for chunk in source:
        yield chunk
        if duration_s:
            read_s = (chunk.start_sample + len(chunk.samples)) / chunk.sample_rate_hz
            show(min(1.0, read_s / duration_s))
