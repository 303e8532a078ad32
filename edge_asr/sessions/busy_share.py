"""What share of its time the decode thread spends in the engine, of late. Pure."""

from __future__ import annotations

import math

MEMORY_S = 1.0
"""What was so long ago counts a third."""


class BusyShare:
    """Follows the steps of one engine."""

    def __init__(self) -> None:
        self.value = 0.0
        """From 0 to 1."""
        self._ended_ns: int | None = None

    def add(self, started_ns: int, ended_ns: int) -> None:
        """A step is done; monotonic time, and no step begins before the one before has ended."""
        since_ns, self._ended_ns = self._ended_ns, ended_ns
        if since_ns is None or ended_ns <= since_ns:
            return
        elapsed_ns = ended_ns - since_ns
        weight = -math.expm1(-elapsed_ns / (MEMORY_S * 1e9))
        self.value += weight * ((ended_ns - started_ns) / elapsed_ns - self.value)
