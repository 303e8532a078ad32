"""What waits for one reader, in order. Asyncio."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Mailbox(Generic[Item]):
    """One writer, which never waits, and one reader.

    Args:
        most: Items that wait at a time, beyond which the oldest are lost; ``None`` for no bound.
    """

    def __init__(self, most: int | None = None) -> None:
        self._items: deque[Item] = deque(maxlen=most)
        self._is_closed = False
        self._has_news = asyncio.Event()

    def __len__(self) -> int:
        """Items waiting."""
        return len(self._items)

    def put(self, item: Item) -> None:
        """Append an item."""
        self._items.append(item)
        self._has_news.set()

    def close(self) -> None:
        """There will be no more; what waits can still be read."""
        self._is_closed = True
        self._has_news.set()

    def clear(self) -> None:
        """Forget what waits: nobody will read it."""
        self._items.clear()

    async def get(self) -> Item | None:
        """The oldest item, waited for; ``None`` when the mailbox is closed and empty."""
        while not self._items:
            if self._is_closed:
                return None
            self._has_news.clear()
            await self._has_news.wait()
        return self._items.popleft()
