"""A distribution as counts in buckets: small enough to send once a second, and what a Prometheus histogram is made of.

No numpy: the front process handles tallies and must stay small.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

BATCH_SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
"""Upper bounds for the streams of one decoding step."""

WAITS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Upper bounds for how long a stream that is ready waits for its step, seconds."""

STEPS_S = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 5.0)
"""Upper bounds for how long a decoding step takes, seconds."""


class Tally:
    """Counts values; the last bucket takes what is beyond the bounds.

    Args:
        bounds: Largest value of each bucket but the last, ascending.
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.total = 0.0
        """Sum of the values."""

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    @property
    def counts(self) -> tuple[int, ...]:
        """Of each bucket by itself, shape (bounds + 1,)."""
        return tuple(self._counts)
