"""A recogniser any of whose sessions can be traced; one that is not costs an attribute look-up per piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from edge_asr import __version__
from edge_asr.clock import Clock
from edge_asr.errors import ConfigurationError
from edge_asr.events import TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.tracing.trace import Trace
from edge_asr.workers.base import Recognizer, RecognizerSession
from edge_asr.workers.passing import PassingRecognizer, PassingSession

NEXT = "next"
"""In place of a session's id: the next one that is opened."""

DEFAULT_MAX_S = 300.0
LONGEST_MAX_S = 3600.0
WAITS_S = 600.0
"""Nobody may remember later that the next session was to be traced."""
MAX_TRACES = 20
"""Directories that are kept; people delete them, not we."""


class Traced(msgspec.Struct, frozen=True):
    """What became of a request for a trace."""

    session: str
    """Its id, or ``next``."""
    directory: str
    """Where it is written; for ``next`` the directory in which it will be."""
    max_s: float


class TracedRecognizer(PassingRecognizer):
    """Any session of it can be traced.

    Args:
        recognizer: The other one.
        directory: Where traces are written; made when the first one is.
        clock: The one that stamps events.
    """

    def __init__(self, recognizer: Recognizer, directory: Path, clock: Clock) -> None:
        super().__init__(recognizer)
        self._directory = directory
        self._clock = clock
        self._sessions: dict[str, _TracedSession] = {}
        self._next_max_s = 0.0
        self._next_until_ns = 0

    def trace(self, session: str, max_s: float = DEFAULT_MAX_S) -> Traced:
        """Write a session down from now on, or the next one from its beginning.

        Args:
            session: Its id, or ``next``.
            max_s: Longest audio, seconds.

        Raises:
            ConfigurationError: There is no such session, too much was asked for, or too many traces are kept already.
        """
        if not 1 <= max_s <= LONGEST_MAX_S:
            raise ConfigurationError(f"max_s = {max_s:g} is outside 1 to {LONGEST_MAX_S:g}")
        self._require_room()
        if session == NEXT:
            self._next_max_s, self._next_until_ns = max_s, self._clock.now_ns() + round(WAITS_S * 1e9)
            return Traced(NEXT, str(self._directory), max_s)
        if session not in self._sessions:
            raise ConfigurationError(
                f"no session {session!r} is open; log and protocols name those that are, {NEXT!r} is the next one"
            )
        if self._sessions[session].is_traced:
            raise ConfigurationError(f"session {session!r} is or was traced already, into {self._directory / session}")
        return Traced(session, str(self._begin(self._sessions[session], max_s)), max_s)

    async def open(self, options: SessionOptions, *, protocol: str) -> RecognizerSession:
        """Begin a session."""
        session = await super().open(options, protocol=protocol)
        traced = _TracedSession(session, options, protocol, self._sessions)
        max_s, self._next_max_s = self._next_max_s, 0.0
        if max_s and self._clock.now_ns() < self._next_until_ns:
            self._begin(traced, max_s)
        return traced

    def _begin(self, session: _TracedSession, max_s: float) -> Path:
        directory = self._directory / session.session_id
        ready = session.ready
        about = {"protocol": session.protocol, "version": __version__, "model": ready.model if ready else ""}
        session.begin(Trace(directory, session.session_id, session.options, max_s, self._clock, about))
        return directory

    def _require_room(self) -> None:
        kept = len(list(self._directory.iterdir())) if self._directory.is_dir() else 0
        if kept >= MAX_TRACES:
            raise ConfigurationError(f"{self._directory} holds {kept} traces already; delete those that nobody needs")


class _TracedSession(PassingSession):
    """Writes down what it passes on while there is a trace."""

    def __init__(
        self,
        session: RecognizerSession,
        options: SessionOptions,
        protocol: str,
        sessions: dict[str, _TracedSession],
    ) -> None:
        self.options = options
        self.protocol = protocol
        super().__init__(session)
        self._sessions = sessions
        self._trace: Trace | None = None
        sessions[session.session_id] = self

    def begin(self, trace: Trace) -> None:
        """Trace it from now on."""
        self._trace = trace

    @property
    def is_traced(self) -> bool:
        """Whether there is a trace of it, be it complete."""
        return self._trace is not None

    async def send(self, data: bytes) -> None:
        if self._trace is not None:
            self._trace.audio(data)
        await super().send(data)

    async def send_recording(self, path: Path, max_duration_s: float) -> None:
        if self._trace is not None:
            self._trace.note("recording", bytes=await asyncio.to_thread(lambda: path.stat().st_size))
        await super().send_recording(path, max_duration_s)

    async def flush(self) -> None:
        self._note("flush")
        await super().flush()

    async def finish(self) -> None:
        self._note("finish")
        await super().finish()

    async def events(self) -> AsyncIterator[TranscriptEvent]:
        try:
            async for event in super().events():
                if self._trace is not None:
                    self._trace.event(event)
                yield event
        finally:
            self._end("ended")

    def cancel(self) -> None:
        super().cancel()
        self._end("cancelled")

    def _note(self, kind: str) -> None:
        if self._trace is not None:
            self._trace.note(kind)

    def _end(self, reason: str) -> None:
        self._sessions.pop(self.session_id, None)
        if self._trace is not None:
            self._trace.close(reason)
