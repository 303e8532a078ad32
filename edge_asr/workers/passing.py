"""What stands between servers and workers passes everything on; whoever does more overrides what it is about."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from edge_asr.events import TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.workers.base import PoolStatus, Recognizer, RecognizerSession
from edge_asr.workers.messages import Ready


class PassingRecognizer:
    """A :class:`~edge_asr.workers.base.Recognizer` over another one."""

    def __init__(self, recognizer: Recognizer) -> None:
        self._recognizer = recognizer

    async def start(self) -> None:
        """Start the workers."""
        await self._recognizer.start()

    async def open(self, options: SessionOptions, *, protocol: str) -> RecognizerSession:
        """Begin a session."""
        return await self._recognizer.open(options, protocol=protocol)

    async def names(self) -> tuple[str, ...]:
        """The models that sessions may ask for by name."""
        return await self._recognizer.names()

    def status(self) -> PoolStatus:
        """The state now."""
        return self._recognizer.status()

    async def close(self, drain_s: float) -> None:
        """Refuse new sessions and end the workers."""
        await self._recognizer.close(drain_s)


class PassingSession:
    """A :class:`~edge_asr.workers.base.RecognizerSession` over another one."""

    def __init__(self, session: RecognizerSession) -> None:
        self._session = session

    @property
    def session_id(self) -> str:
        """Unique in this daemon."""
        return self._session.session_id

    @property
    def ready(self) -> Ready | None:
        """What the worker that decodes it has loaded."""
        return self._session.ready

    @property
    def is_resting(self) -> bool:
        """Whether its audio may come a little later."""
        return self._session.is_resting

    async def send(self, data: bytes) -> None:
        """Pass audio on."""
        await self._session.send(data)

    async def caught_up(self) -> None:
        """Wait until what was sent is decoded."""
        await self._session.caught_up()

    async def send_recording(self, path: Path, max_duration_s: float) -> None:
        """Let the worker read the whole audio from a file."""
        await self._session.send_recording(path, max_duration_s)

    async def flush(self) -> None:
        """Close the open segment now."""
        await self._session.flush()

    async def finish(self) -> None:
        """No more audio."""
        await self._session.finish()

    async def events(self) -> AsyncIterator[TranscriptEvent]:
        """Every event of the session in order."""
        async for event in self._session.events():
            yield event

    def cancel(self) -> None:
        """The client is gone."""
        self._session.cancel()
