"""The events of one session on their way to its client, in order; bounded where the client reads slowly. Asyncio."""

from __future__ import annotations

import asyncio
from collections import deque

from edge_asr.events import Partial, TranscriptEvent

KEPT_PARTIALS = 32
"""With so many events waiting, a partial replaces the one before it, which is what partials mean anyway."""


class EventQueue:
    """One writer, which never waits, and one reader."""

    def __init__(self) -> None:
        self._events: deque[TranscriptEvent] = deque()
        self._is_closed = False
        self._has_news = asyncio.Event()

    def __len__(self) -> int:
        """Events waiting."""
        return len(self._events)

    def put(self, event: TranscriptEvent) -> None:
        """Append an event; finals, notices and the end are never dropped."""
        if len(self._events) >= KEPT_PARTIALS and _replaces(event, self._events[-1]):
            self._events.pop()
        self._events.append(event)
        self._has_news.set()

    def close(self) -> None:
        """There will be no more; what waits can still be read."""
        self._is_closed = True
        self._has_news.set()

    def clear(self) -> None:
        """Forget what waits: nobody will read it."""
        self._events.clear()

    async def get(self) -> TranscriptEvent | None:
        """The oldest event, waited for; ``None`` when the queue is closed and empty."""
        while not self._events:
            if self._is_closed:
                return None
            self._has_news.clear()
            await self._has_news.wait()
        return self._events.popleft()


def _replaces(event: TranscriptEvent, before: TranscriptEvent) -> bool:
    return isinstance(event, Partial) and isinstance(before, Partial) and event.segment == before.segment
