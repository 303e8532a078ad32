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

    @property
    def ready(self) -> Ready | None:
        """What the worker that decodes it has loaded; ``None`` only before any worker was ready."""
        ...

    @property
    def is_resting(self) -> bool:
        """Whether there is silence and nothing waits to be said: its audio may come a little later."""
        ...

    async def send(self, data: bytes) -> None:
        """Pass audio on; waits while the worker holds more undecoded audio than the session may have."""
        ...

    async def caught_up(self) -> None:
        """Wait until all that was sent is decoded, but for the last fraction of a second, which waits for more."""
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


class OfferedModel(msgspec.Struct, frozen=True):
    """A model that sessions may ask for by name."""

    name: str
    languages: tuple[str, ...]
    """BCP 47 tags."""
    hears_everything: bool = True
    """Whether it knows any words, not only those of commands."""


class WorkerStatus(msgspec.Struct, frozen=True):
    """What one place in the pool is doing."""

    name: str
    state: str
    """As of :class:`PoolStatus`."""
    reason: str
    """One sentence when the state is not ``ready``."""
    pid: int
    """0 while there is no process."""
    restarts: int
    sessions: int
    """Held by the front for this worker, waiting ones too."""
    stats: Stats | None
    """Its last report; renewed every second while it has sessions."""
    model: str = ""
    """Store name of what it serves."""
    role: str = "active"
    """``active``; ``twin`` for another one like it; ``other`` for a model that is asked for by name; ``trial``;
    ``leaving`` for one that is replaced."""
    cpus: tuple[int, ...] = ()
    """Cores it is kept to."""
    escaped_threads: int = 0
    """Threads that may run elsewhere all the same."""
    memory_bytes: int = 0
    """Resident."""
    memory_limit_bytes: int = 0
    """At which it is replaced; 0 for none."""
    busy: float = 0.0
    """Share of the last second with work that its decode thread spent in the engine."""
    capacity_streams: float | None = None
    """Streams that talk without a pause and can be decoded in time; ``None`` while not known."""
    needed_streams: float = 0.0
    """Streams of its sessions that talk at a time, at most."""


class PoolStatus(msgspec.Struct, frozen=True):
    """What the pool is doing, for ``/health``, ``status`` and metrics."""

    state: str
    """``starting``, ``ready``, ``restarting``, ``failed`` or ``draining``; ``idle`` while the model is unloaded because
    nobody has used it, ``waking`` while it is loaded again."""
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
    offered: tuple[OfferedModel, ...] = ()
    """What sessions may ask for by name or by language besides the active model, as of the last look into the store."""
    workers: tuple[WorkerStatus, ...] = ()
    """Each place in the pool, the active model's first."""

    @property
    def takes_sessions(self) -> bool:
        """Whether a session would be opened now, if there is room."""
        return self.state in ("ready", "restarting", "idle", "waking")

    @property
    def is_healthy(self) -> bool:
        """Whether a session would be served without waiting for a repair."""
        return self.state in ("ready", "idle", "waking")


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
            ModelNotFound: The options name a model that is not installed.
            ModelsBusy: It cannot be loaded beside the others, which are in use.
            NotEnoughMemory: It does not fit beside the others.
        """
        ...

    async def names(self) -> tuple[str, ...]:
        """The models that sessions may ask for by name, the active one first."""
        ...

    def status(self) -> PoolStatus:
        """The state now; never blocks."""
        ...

    async def close(self, drain_s: float) -> None:
        """Refuse new sessions, let the running ones finish for so long, then end the workers."""
        ...
