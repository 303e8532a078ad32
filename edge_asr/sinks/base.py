"""What a sink is: it is offered every final, never holds up the session, and loses the oldest when it cannot follow."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

from edge_asr.events import Command, Speaker, Word

logger = logging.getLogger(__name__)

Outcome = Literal["delivered", "failed", "dropped"]


class Spoken(msgspec.Struct, frozen=True):
    """A final with text, as sinks get it."""

    text: str
    session_id: str
    segment: int
    protocol: str
    """Of the client, such as ``wyoming`` or ``microphone``."""
    model: str
    language: str
    start_s: float
    """Seconds since the session began."""
    end_s: float
    words: tuple[Word, ...]
    command: Command | None
    """What was meant, where spoken commands are listened for and one was recognised."""
    open_text: str | None
    """What was heard without regard to commands; ``None`` where nobody listens for them."""
    time: str
    """Wall clock, UTC, ISO 8601; a board without a clock may be wrong about it."""
    raw_text: str | None = None
    """The text as it was heard, where ``text`` may be written otherwise; else ``None``."""
    tags: dict[str, str] | None = None
    """What the model says of the speech besides its words: ``language``, ``emotion``, ``event``; mostly ``None``."""
    speaker: Speaker | None = None
    """Whose voice it is; ``None`` where nobody tells voices apart."""


class Sink(Protocol):
    """Takes finals; runs beside the daemon."""

    @property
    def name(self) -> str:
        """For log and metrics."""
        ...

    def offer(self, spoken: Spoken) -> None:
        """Take a final; never waits."""
        ...

    async def run(self) -> None:
        """Deliver until cancelled; never raises for what the other side does."""
        ...

    async def drained(self) -> None:
        """Wait until nothing waits."""
        ...


class Waiting:
    """Finals that are not delivered yet: at most so many, the oldest give way."""

    def __init__(self, name: str, most: int, count: Callable[[str, Outcome], None]) -> None:
        """Start empty; ``count`` is told the sink's name and what became of each final."""
        self._name = name
        self._most = most
        self._count = count
        self._finals: deque[Spoken] = deque()
        self._has_news = asyncio.Event()
        self._is_empty = asyncio.Event()
        self._is_empty.set()
        self._is_losing = False

    def put(self, spoken: Spoken) -> None:
        """Append a final."""
        if len(self._finals) >= self._most:
            self._finals.popleft()
            self._count(self._name, "dropped")
            if not self._is_losing:
                logger.warning("%s does not follow: finals are dropped, the oldest first", self._name)
            self._is_losing = True
        self._finals.append(spoken)
        self._has_news.set()
        self._is_empty.clear()

    async def first(self) -> Spoken:
        """The oldest final, waited for; it stays until :meth:`done`."""
        while not self._finals:
            self._has_news.clear()
            await self._has_news.wait()
        return self._finals[0]

    def done(self, spoken: Spoken, outcome: Outcome) -> None:
        """What became of it; it may have given way meanwhile."""
        if self._finals and self._finals[0] is spoken:
            self._finals.popleft()
            self._count(self._name, outcome)
        if not self._finals:
            self._is_empty.set()
            self._is_losing = False

    async def drained(self) -> None:
        """Wait until nothing waits."""
        await self._is_empty.wait()
