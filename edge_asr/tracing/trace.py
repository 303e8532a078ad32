"""One trace: a directory with ``audio.wav``, ``events.jsonl`` and ``session.json``; bounded, and never fatal.

What people say is theirs. So the directory and its files are for this user alone, and what cannot be written ends the
trace, not the session.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import msgspec

from edge_asr.clock import Clock
from edge_asr.events import Final, Partial, TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.tracing.wav_file import WavFile

MAX_LINES = 100_000
"""Of ``events.jsonl``; some hours of audio and partials."""

_logger = logging.getLogger(__name__)


class Trace:
    """What one session said and was told, from the moment this was made.

    Args:
        directory: Is made, and must not exist.
        session_id: For the log.
        options: How the audio is written.
        max_s: Longest audio, seconds; the trace ends there.
        clock: The one that stamps events.
        about: What else ``session.json`` says.
    """

    def __init__(
        self,
        directory: Path,
        session_id: str,
        options: SessionOptions,
        max_s: float,
        clock: Clock,
        about: dict[str, Any],
    ) -> None:
        self._session_id = session_id
        self._bytes_per_second = options.bytes_per_second
        self._bytes_left = round(max_s * options.bytes_per_second)
        self._heard_bytes = 0
        self._lines = 0
        self._clock = clock
        self._begun_ns = clock.now_ns()
        self._wav: WavFile | None = None
        self._events: TextIO | None = None
        with self._ending_on_failure():
            directory.mkdir(mode=0o700, parents=True)
            (directory / "session.json").write_bytes(
                msgspec.json.format(
                    msgspec.json.encode({"session_id": session_id, "options": options, "max_s": max_s, **about})
                )
            )
            self._events = (directory / "events.jsonl").open("x", encoding="utf-8", buffering=1)
            self._wav = WavFile(directory / "audio.wav", options)
            _logger.info("session %s is traced into %s", session_id, directory)

    @property
    def is_open(self) -> bool:
        """Whether anything more is written."""
        return self._events is not None

    def audio(self, data: bytes) -> None:
        """A piece of audio, before the worker gets it."""
        if self._wav is None:
            return
        with self._ending_on_failure():
            self._wav.add(data[: self._bytes_left])
            self._bytes_left -= len(data)
            self._heard_bytes += len(data)
            self.note("audio", bytes=len(data), position_s=round(self._heard_bytes / self._bytes_per_second, 4))
        if self._bytes_left <= 0:
            self.close("max_s")

    def event(self, event: TranscriptEvent) -> None:
        """An event, as the client is given it."""
        stages = {}
        if isinstance(event, Partial | Final):
            # From the worker's hand to here; and how much audio had come by then beyond what the event is about.
            stages["travel_s"] = round((self._clock.now_ns() - event.emitted_ns) / 1e9, 6)
            stages["behind_s"] = round(self._heard_bytes / self._bytes_per_second - event.end_s, 4)
        self.note("event", **stages, type=type(event).__name__, event=event)

    def note(self, kind: str, **fields: object) -> None:
        """A line of ``events.jsonl``."""
        if self._events is None:
            return
        at_s = round((self._clock.now_ns() - self._begun_ns) / 1e9, 6)
        with self._ending_on_failure():
            self._events.write(msgspec.json.encode({"at_s": at_s, "kind": kind, **fields}).decode() + "\n")
        self._lines += 1
        if self._lines >= MAX_LINES:
            self.close("lines")

    def close(self, reason: str) -> None:
        """Write no more; closing twice is allowed."""
        events, self._events = self._events, None
        wav, self._wav = self._wav, None
        try:
            if events is not None:
                events.write(msgspec.json.encode({"kind": "end", "reason": reason}).decode() + "\n")
                events.close()
            if wav is not None:
                wav.close()
        except OSError as error:
            _logger.warning("the trace of session %s is not whole: %s", self._session_id, error.strerror or error)

    @contextlib.contextmanager
    def _ending_on_failure(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            _logger.warning("the trace of session %s ends: %s", self._session_id, error.strerror or error)
            self.close("failure")
