"""Calls on boards, event by event: what a plan promises, tried without any of the formulas it was made with."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from edge_asr.bench.load import CallLoad
from edge_asr.statistics import Block, Ratio, pooled_ratio

Durations = Literal["exponential", "lognormal", "constant"]
"""Of the same mean; the deviation of the first two equals their mean."""

_BATCHES = 40
"""Successive stretches of calls; long enough to be all but independent, they give the interval of the lost share."""

_WARM_UP = 0.1
"""Share of the calls that only fill the empty boards."""


@dataclass(frozen=True, slots=True)
class SimulatedHours:
    """The busiest hour, gone on for very long."""

    lost: Ratio
    """Calls that found no free stream over calls; the interval is one over batches of calls."""
    time_at_streams: tuple[float, ...]
    """Share of the boards' time that a board spent with 0, 1, 2 … calls."""

    @property
    def mean_streams(self) -> float:
        """Calls on a board, on average."""
        return sum(streams * share for streams, share in enumerate(self.time_at_streams))

    def late_share(self, late_at_streams: Sequence[float]) -> float:
        """Share of all chunks that come late.

        Args:
            late_at_streams: Measured share of late chunks on a board with 0, 1, 2 … streams.
        """
        chunks = [streams * share for streams, share in enumerate(self.time_at_streams)]
        late = sum(share * late for share, late in zip(chunks, late_at_streams, strict=True))
        return late / sum(chunks) if sum(chunks) else 0.0


def simulate(
    load: CallLoad,
    boards: int,
    streams_per_board: int,
    durations: Durations = "lognormal",
    calls: int = 100_000,
    seed: int = 0,
) -> SimulatedHours:
    """Let calls come to the board with the fewest calls; one that finds all boards full is lost.

    Args:
        load: Rate, durations and kind of arrivals.
        boards: In service.
        streams_per_board: Calls that a board takes at a time.
        durations: Their distribution.
        calls: How many, those of the warm-up included.
        seed: Of everything that is drawn.
    """
    generator = np.random.default_rng(seed)
    begin_s = _arrivals(load, calls, generator)
    end_s = begin_s + _durations(load.mean_duration_s, durations, calls, generator)
    return _served(begin_s.tolist(), end_s.tolist(), boards, streams_per_board)


def _served(begin_s: list[float], end_s: list[float], boards: int, streams_per_board: int) -> SimulatedHours:
    warm_up = int(len(begin_s) * _WARM_UP)
    pool = _Boards(boards, streams_per_board)
    lost = []
    for call, (begin, end) in enumerate(zip(begin_s, end_s, strict=True)):
        if call == warm_up:
            pool.forget_times(begin)
        is_taken = pool.take(begin, end)
        if call >= warm_up:
            lost.append(not is_taken)
    batches = np.array_split(np.array(lost), _BATCHES)
    blocks = [Block(0, f"{number:03}", int(batch.sum()), len(batch)) for number, batch in enumerate(batches)]
    return SimulatedHours(pooled_ratio(blocks), pool.time_shares())


class _Boards:
    """Calls in progress on each board, and how long a board had how many."""

    def __init__(self, boards: int, streams_per_board: int) -> None:
        self._calls = [0] * boards
        self._since_s = [0.0] * boards
        self._times_s = [0.0] * (streams_per_board + 1)
        self._ends: list[tuple[float, int]] = []

    def take(self, begin_s: float, end_s: float) -> bool:
        """Place a call, after those that have ended by then have left; whether there was room."""
        while self._ends and self._ends[0][0] <= begin_s:
            at_s, board = heapq.heappop(self._ends)
            self._change(board, -1, at_s)
        fewest = min(self._calls)
        if fewest == len(self._times_s) - 1:
            return False
        board = self._calls.index(fewest)
        self._change(board, 1, begin_s)
        heapq.heappush(self._ends, (end_s, board))
        return True

    def forget_times(self, now_s: float) -> None:
        """Begin the counting of times."""
        self._times_s = [0.0] * len(self._times_s)
        self._since_s = [now_s] * len(self._since_s)

    def time_shares(self) -> tuple[float, ...]:
        """Share of the time with 0, 1, 2 … calls, all boards together."""
        total = sum(self._times_s)
        return tuple(time_s / total for time_s in self._times_s)

    def _change(self, board: int, by: int, now_s: float) -> None:
        # A call may end between the last arrival of the warm-up and the first that counts.
        self._times_s[self._calls[board]] += max(0.0, now_s - self._since_s[board])
        self._since_s[board] = now_s
        self._calls[board] += by


def _arrivals(load: CallLoad, calls: int, generator: np.random.Generator) -> npt.NDArray[np.float64]:
    if load.arrivals == "uniform":
        return np.arange(calls) / load.calls_per_second
    if load.arrivals == "poisson":
        return np.cumsum(generator.exponential(1 / load.calls_per_second, calls))
    sizes = generator.geometric(1 / load.burst_size, calls)  # more bursts than needed: each has a call
    moments = np.cumsum(generator.exponential(load.burst_size / load.calls_per_second, calls))
    return np.repeat(moments, sizes)[:calls]


def _durations(
    mean_s: float, durations: Durations, calls: int, generator: np.random.Generator
) -> npt.NDArray[np.float64]:
    if durations == "constant":
        return np.full(calls, mean_s)
    if durations == "exponential":
        return generator.exponential(mean_s, calls)
    variance = np.log(2)  # of the logarithm, where the deviation equals the mean
    return generator.lognormal(np.log(mean_s) - variance / 2, np.sqrt(variance), calls)
