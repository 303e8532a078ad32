"""What a site asks of its boards: streams that never end, or calls that come and go; and what it wants in reserve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edge_asr.bench.erlang import burst_blocking, erlang_b, even_blocking

Arrivals = Literal["uniform", "poisson", "bursty"]
"""At equal intervals; independently of each other; in bursts."""

DURATION_OVERLAP = 0.556
"""Mean of the shorter of two calls over the mean of one, for lognormal durations whose deviation equals their mean.

2 Phi(-sqrt(ln 2 / 2)). It is 0.5 for exponential durations and 1 for constant ones, and decides how long the calls of a
burst stay together.
"""


@dataclass(frozen=True, slots=True)
class StandingStreams:
    """Streams that are always on: rooms, radio channels, machines."""

    streams: int


@dataclass(frozen=True, slots=True)
class CallLoad:
    """Calls of the busiest hour, each of which holds one stream from its first second to its last."""

    calls_per_hour: float
    """Mean over the day's hours in service."""
    mean_duration_s: float
    peak_factor: float = 1.0
    """Calls of the busiest hour over ``calls_per_hour``."""
    arrivals: Arrivals = "poisson"
    burst_size: float = 2.0
    """Mean calls per burst where arrivals are bursty."""
    max_blocking: float = 0.01
    """Share of the calls of the busiest hour that may find no stream."""

    @property
    def calls_per_second(self) -> float:
        """In the busiest hour."""
        return self.calls_per_hour * self.peak_factor / 3600

    @property
    def offered_erlangs(self) -> float:
        """Mean number of calls in progress in the busiest hour if none were lost."""
        return self.calls_per_second * self.mean_duration_s

    @property
    def peakedness(self) -> float:
        """Variance of the number of calls in progress on unlimited streams over its mean, where arrivals are bursty.

        Bursts of a geometric number of calls of mean m have 1 + 2 (m - 1) times the durations' overlap.
        """
        return 1 + 2 * (self.burst_size - 1) * DURATION_OVERLAP

    def blocking(self, streams: int) -> float:
        """Share of calls that this many streams lose.

        Bursts go by the peakedness method: as bursts of exponential calls of the same peakedness, for which
        :func:`~edge_asr.bench.erlang.burst_blocking` is exact.
        """
        if self.arrivals == "bursty":
            return burst_blocking(self.offered_erlangs, streams, self.peakedness)
        model = even_blocking if self.arrivals == "uniform" else erlang_b
        return model(self.offered_erlangs, streams)


Load = StandingStreams | CallLoad


@dataclass(frozen=True, slots=True)
class Reserve:
    """What is bought and not used."""

    headroom: float = 0.2
    """Share of a board's streams that stays free."""
    spare_boards: int = 0
    """Boards that may fail without any effect on the plan."""
