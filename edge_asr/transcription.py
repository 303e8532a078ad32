"""A whole recording to text in this process: the loop below ``transcribe`` and ``bench``.

The same sessions, scheduler and engine as in the daemon, driven directly; no thread, no I/O of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from edge_asr.audio import AudioChunk
from edge_asr.clock import Clock
from edge_asr.errors import SessionError
from edge_asr.events import Failed, Final, Notice, TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.sessions.decode_loop import DecodeLoop

_SESSION = "recording"


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was recognised in one recording."""

    finals: tuple[Final, ...]
    notices: tuple[Notice, ...]
    audio_s: float
    """Length of the recording."""
    processing_s: float
    """Time spent on resampling and decoding; reading the file and loading the model are not in it."""

    @property
    def rtf(self) -> float:
        """Real-time factor: processing time per second of audio."""
        return self.processing_s / self.audio_s if self.audio_s else 0.0

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the session noticed and the source did not: samples that are no numbers are counted before resampling
        spreads them."""
        return tuple(notice.message for notice in self.notices if notice.code != "samples_replaced")


class RecordingFailed(SessionError):
    """The session of a recording ended before the recording did."""

    def __init__(self, failed: Failed) -> None:
        self.code = failed.code
        super().__init__(failed.message)


def _nobody(_event: TranscriptEvent) -> None:
    """Only the transcript at the end is wanted."""


def transcribe(
    loop: DecodeLoop,
    chunks: Iterable[AudioChunk],
    options: SessionOptions,
    clock: Clock,
    on_event: Callable[[TranscriptEvent], None] = _nobody,
) -> Transcript:
    """Recognise one recording.

    Args:
        loop: Has no session of another recording open.
        chunks: The recording, at any rate; read as fast as it is decoded.
        options: What is wanted; rate and encoding do not matter here, since every chunk says its own.
        clock: What processing time is read from.
        on_event: Hears everything as it is said.

    Raises:
        InputError: The recording cannot be read.
        RecordingFailed: The engine failed on it.
    """
    hearing = _Hearing(loop, clock, on_event)
    loop.open(_SESSION, options)
    try:
        for chunk in chunks:
            hearing.take(chunk)
        hearing.finish()
    finally:
        loop.cancel(_SESSION)
    return Transcript(tuple(hearing.finals), tuple(hearing.notices), hearing.audio_s, hearing.processing_ns / 1e9)


class _Hearing:
    """What is known while a recording is read."""

    def __init__(self, loop: DecodeLoop, clock: Clock, on_event: Callable[[TranscriptEvent], None]) -> None:
        self.finals: list[Final] = []
        self.notices: list[Notice] = []
        self.audio_s = 0.0
        self.processing_ns = 0
        self._loop = loop
        self._clock = clock
        self._on_event = on_event

    def take(self, chunk: AudioChunk) -> None:
        self.audio_s += chunk.duration_s
        with self._at_work():
            self._loop.feed(_SESSION, chunk)
        self._decode()

    def finish(self) -> None:
        with self._at_work():
            self._loop.finish(_SESSION)
        self._decode()
        if _SESSION in self._loop:
            raise RuntimeError("the session did not end although everything was decoded")

    def _decode(self) -> None:
        is_busy = True
        while is_busy:
            with self._at_work():
                is_busy = self._loop.step()
            for event in self._loop.take_events():
                self._hear(event)

    def _hear(self, event: TranscriptEvent) -> None:
        match event:
            case Failed():
                raise RecordingFailed(event)
            case Final():
                self.finals.append(event)
            case Notice():
                self.notices.append(event)
            case _:
                pass
        self._on_event(event)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        started_ns = self._clock.now_ns()
        try:
            yield
        finally:
            self.processing_ns += self._clock.now_ns() - started_ns
