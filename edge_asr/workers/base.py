"""What servers see of the workers: open a session, send audio, read events. Asyncio, no numpy."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

import msgspec

from edge_asr.events import TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.workers.messages import Ready, Stats


class RecognizerSession(Protocol):
    """One client's conversation, as the front process holds it."""

    @property
    def session_id(self) -> str:
        """Unique in this daemon."""
        ...

    async def send(self, data: bytes) -> None:
        """Pass audio on; waits while the worker holds more undecoded audio than the session may have."""
        ...

    async def send_recording(self, path: Path, max_duration_s: float) -> None:
        """Let the worker read the whole audio from a spooled file, then finish.

        The file must stay until the session has ended.
        """
        ...

    async def flush(self) -> None:
        """Close the open segment now."""
        ...

    async def finish(self) -> None:
        """No more audio."""
        ...

    def events(self) -> AsyncIterator[TranscriptEvent]:
        """Every event of the session in order; ends after ``SessionEnded`` or ``Failed``. Read once."""
        ...

    def cancel(self) -> None:
        """The client is gone; frees the slot at once. Allowed at any time, also twice and after the end."""
        ...


class WorkerStatus(msgspec.Struct, frozen=True):
    """What one place in the pool is doing."""

    name: str
    state: str
    """``starting``, ``ready``, ``restarting`` or ``failed``."""
    reason: str
    """One sentence when the state is not ``ready``."""
    pid: int
    """0 while there is no process."""
    restarts: int
    sessions: int
    """Held by the front for this worker, waiting ones too."""
    stats: Stats | None
    """Its last report; renewed every second while it has sessions."""


class PoolStatus(msgspec.Struct, frozen=True):
    """What the pool is doing, for ``/health``, ``status`` and metrics."""

    state: str
    """``starting``, ``ready``, ``restarting``, ``failed`` or ``draining``."""
    reason: str
    """One sentence when the state is not ``ready``."""
    sessions: int
    max_sessions: int
    restarts: int
    worker_pid: int
    """0 while there is none."""
    ready: Ready | None
    """What the worker loaded; kept while it is restarted."""
    stats: Stats | None
    workers: tuple[WorkerStatus, ...] = ()
    """Each place in the pool."""


class Recognizer(Protocol):
    """The pool of workers."""

    async def start(self) -> None:
        """Start the workers; returns when one is ready.

        Raises:
            ModelError: The model cannot be loaded.
            MachineError: The provider or the machine cannot do it.
        """
        ...

    async def open(self, options: SessionOptions, *, protocol: str) -> RecognizerSession:
        """Begin a session.

        Raises:
            NotReady: No worker is ready.
            Overloaded: Every session is in use.
            ModelNotFound: The options name a model that is not the one being served.
        """
        ...

    def status(self) -> PoolStatus:
        """The state now; never blocks."""
        ...

    async def close(self, drain_s: float) -> None:
        """Refuse new sessions, let the running ones finish for so long, then end the workers."""
        ...
