"""A long series in little memory: all of it, or an even sample. A soak that counts bytes must not grow by its notes."""

from __future__ import annotations

import random
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Thinned(Generic[Item]):
    """Items in the order in which they came; of more than ``most``, a sample in which each is as likely as any other.

    Vitter's algorithm R (1985): item number n replaces a random one with probability most / n.

    Args:
        most: How many are kept; ``None`` for all.
        seed: Of the choice.
    """

    def __init__(self, most: int | None = None, seed: int = 0) -> None:
        self.count = 0
        """Items that came."""
        self._most = most
        self._draw = random.Random(seed)  # noqa: S311  a sample that can be repeated, no secret
        self._kept: list[tuple[int, Item]] = []

    def add(self, item: Item) -> None:
        """Take the next one."""
        number, self.count = self.count, self.count + 1
        if self._most is None or len(self._kept) < self._most:
            self._kept.append((number, item))
            return
        place = self._draw.randrange(self.count)
        if place < self._most:
            self._kept[place] = (number, item)

    def items(self) -> tuple[Item, ...]:
        """Those that were kept, in order."""
        return tuple(item for _, item in sorted(self._kept, key=lambda entry: entry[0]))
