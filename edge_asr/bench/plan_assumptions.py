"""What a plan takes for granted, and what the reader must be warned of, in words."""

from __future__ import annotations

from collections.abc import Iterator

from edge_asr.bench.capacity import BoardCapacity
from edge_asr.bench.load import CallLoad, Load, Reserve
from edge_asr.bench.wording import counted
from edge_asr.statistics import Percentile


def assumptions_of(capacity: BoardCapacity, load: Load, reserve: Reserve, usable: int) -> Iterator[str]:
    """What is taken for granted, most important first."""
    test = capacity.at_capacity
    carried = counted(capacity.streams, "stream")
    yield f"a board carries {carried}: p99 of a chunk was under the {test.chunk_ms:.0f} ms it lasts"
    yield f"{reserve.headroom:.0%} headroom leaves {usable} of them to be used"
    yield "all boards are like the one of the bench, as warm and as idle otherwise"
    yield "speech is as dense and as hard as the audio of the bench"
    if isinstance(load, CallLoad):
        yield from _call_assumptions(load)
    else:
        yield "streams are always on, each has its place, and none is turned away"
    yield (
        f"{counted(reserve.spare_boards, 'board')} in reserve"
        if reserve.spare_boards
        else f"no board is spare: if one fails, there are {counted(usable, 'stream')} less"
    )


def _call_assumptions(load: CallLoad) -> Iterator[str]:
    yield (
        f"the busiest hour has {load.calls_per_hour:g} x {load.peak_factor:g} calls and lasts until the numbers settle"
    )
    yield "a call holds one stream from its first second to its last, silence included; two sides of a call are two"
    yield "a call that finds no free stream is lost and does not try again"
    yield "each call goes to a board with a free stream if there is one"
    if load.arrivals == "uniform":
        yield "calls arrive at equal intervals and last exponentially distributed times (Takács's formula)"
    elif load.arrivals == "poisson":
        yield "calls arrive independently of each other (Erlang B; the distribution of durations does not matter)"
    else:
        yield (
            f"calls begin in bursts of a geometric number, {load.burst_size:g} on average; durations spread about as "
            f"much as their mean (peakedness method, peakedness {load.peakedness:.2f}); equal durations would lose more"
        )


def warnings_of(capacity: BoardCapacity, reserve: Reserve) -> Iterator[str]:
    """What the measurements themselves do not support."""
    test = capacity.at_capacity
    for violation in capacity.violations:
        yield f"the measurements are invalid: {violation}"
    if not capacity.is_limit_known:
        yield f"nothing above {counted(capacity.streams, 'stream')} was tried; the board may carry more"
    if isinstance(test.p99, Percentile) and test.p99.interval.high >= test.chunk_ms:
        yield (
            f"p99 is {test.p99.value:.0f} ms, and between {test.p99.interval.low:.0f} and "
            f"{test.p99.interval.high:.0f} ms with 95 % confidence: a board with "
            f"{counted(capacity.streams, 'stream')} is at the edge"
        )
    if capacity.streams * (1 - reserve.headroom) < 1:
        yield "the board carries too few streams to keep a headroom"
    if capacity.board_memory_bytes is not None and test.peak_bytes > capacity.board_memory_bytes * 0.8:
        yield "the service takes more than 80 % of the board's memory"
