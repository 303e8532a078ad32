"""Time as a value that is passed in, so that sessions and schedulers can be tested without waiting."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """A monotonic clock."""

    def now_ns(self) -> int:
        """Nanoseconds since an arbitrary start; never goes back."""
        ...


class MonotonicClock:
    """``CLOCK_MONOTONIC``: the clock every figure of this project is read from."""

    def now_ns(self) -> int:
        """Nanoseconds of ``time.monotonic_ns``."""
        return time.monotonic_ns()


class ThreadClock:
    """The calling thread's own processor time."""

    def now_ns(self) -> int:
        """Nanoseconds of ``time.thread_time_ns``."""
        return time.thread_time_ns()


class ManualClock:
    """A clock that moves only when told to; for tests and for replaying recordings."""

    def __init__(self, start_ns: int = 0) -> None:
        self._now_ns = start_ns

    def now_ns(self) -> int:
        """The time last set."""
        return self._now_ns

    def advance_ms(self, milliseconds: float) -> None:
        """Move forward; a negative step is an error."""
        if milliseconds < 0:
            raise ValueError(f"a monotonic clock cannot go back by {-milliseconds} ms")
        self._now_ns += round(milliseconds * 1e6)
