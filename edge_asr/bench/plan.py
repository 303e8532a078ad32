"""From the capacity of one board and a load to the number of boards, and what they need.

Capacity is counted in streams at a time, never in requests per second: a live stream holds its place as long as
somebody speaks, however fast the board is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from edge_asr.bench.bandwidth import StreamBandwidth, stream_bandwidths
from edge_asr.bench.capacity import BoardCapacity
from edge_asr.bench.erlang import erlang_b, least
from edge_asr.bench.load import CallLoad, Load, Reserve
from edge_asr.bench.plan_assumptions import assumptions_of, warnings_of
from edge_asr.bench.processor_advice import Advice, advise
from edge_asr.bench.simulate import Durations, simulate

_CALLS_PER_ERLANG = 50
"""A simulation is at least so many mean durations long, a tenth of which fills the empty boards."""


@dataclass(frozen=True, slots=True)
class SimulatedLoss:
    """The planned boards, spares apart, in an event simulation."""

    durations: Durations
    calls: int
    lost: float
    lost_low: float
    """95 % interval."""
    lost_high: float
    late_share: float
    """Chunks that come late, by the shares measured at each number of streams."""


@dataclass(frozen=True, slots=True)
class PlannedCalls:
    """What a plan promises to callers, and how it fares when it is tried."""

    offered_erlangs: float
    peakedness: float | None
    """Where calls come in bursts."""
    blocking: float
    """Share of calls that find no stream, by formula."""
    boards_without_dispatcher: int | None
    """Working boards if each call went to a board at random, full or not; ``None`` unless calls come independently."""
    simulated: tuple[SimulatedLoss, ...]
    """Empty where the simulation would have to be too long."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How many boards, and what they need."""

    boards: int
    """Spares included."""
    working_boards: int
    streams_per_board: int
    """Of the capacity, without the headroom."""
    streams_needed: int
    """On one board of unlimited size."""
    mean_streams: float
    """In use, all boards together."""
    busy_share: float
    """Mean share of the streams of the working boards, without the headroom, that are in use."""
    cpu_share: float
    """Mean share of the cores of a working board."""
    memory_per_board_bytes: int
    bandwidths: tuple[StreamBandwidth, ...]
    """Per stream."""
    peak_streams: int
    """That can be in use; times a bandwidth, what the network must carry."""
    calls: PlannedCalls | None
    """``None`` for standing streams."""
    advice: tuple[Advice, ...]
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]


def plan_boards(
    capacity: BoardCapacity, load: Load, reserve: Reserve, simulated_calls: int = 100_000, seed: int = 0
) -> Plan:
    """Plan boards for a load.

    Args:
        capacity: Of one board.
        load: What the site asks for.
        reserve: What stays unused.
        simulated_calls: How long the simulation is; its time grows with it.
        seed: Of the simulation.
    """
    usable = usable_streams(capacity.streams, reserve.headroom)
    needed = _streams_needed(load) if isinstance(load, CallLoad) else load.streams
    working = math.ceil(needed / usable)
    calls, mean_streams = None, float(needed)
    if isinstance(load, CallLoad):
        calls = _planned_calls(capacity, load, working, usable, simulated_calls, seed)
        mean_streams = load.offered_erlangs * (1 - calls.blocking)
    return Plan(
        boards=working + reserve.spare_boards,
        working_boards=working,
        streams_per_board=usable,
        streams_needed=needed,
        mean_streams=mean_streams,
        busy_share=mean_streams / (working * usable),
        cpu_share=mean_streams / working * capacity.at_capacity.cpu_per_audio_s / capacity.cores,
        memory_per_board_bytes=capacity.at_capacity.peak_bytes,
        bandwidths=stream_bandwidths(capacity.piece_ms),
        peak_streams=needed if calls is None else working * usable,
        calls=calls,
        advice=advise(capacity, working, needed),
        assumptions=tuple(assumptions_of(capacity, load, reserve, usable)),
        warnings=tuple(warnings_of(capacity, reserve)),
    )


def usable_streams(streams: int, headroom: float) -> int:
    """Streams of a board that are given away; at least one."""
    # 10 * (1 - 0.2) is a little less than 8 in binary; the number meant is 8.
    return max(1, math.floor(streams * (1 - headroom) + 1e-9))


def _streams_needed(load: CallLoad) -> int:
    return least(lambda streams: load.blocking(streams) <= load.max_blocking)


def _planned_calls(
    capacity: BoardCapacity, load: CallLoad, boards: int, usable: int, calls: int, seed: int
) -> PlannedCalls:
    tried: tuple[Durations, ...] = ("exponential", "lognormal")
    if load.offered_erlangs * _CALLS_PER_ERLANG > calls:
        tried = ()
    return PlannedCalls(
        offered_erlangs=load.offered_erlangs,
        peakedness=load.peakedness if load.arrivals == "bursty" else None,
        blocking=load.blocking(boards * usable),
        boards_without_dispatcher=_boards_without_dispatcher(load, usable),
        simulated=tuple(_simulated(capacity, load, boards, usable, durations, calls, seed) for durations in tried),
    )


def _boards_without_dispatcher(load: CallLoad, usable: int) -> int | None:
    if load.arrivals != "poisson":
        return None  # what a random split leaves of bursts and intervals is neither
    return least(lambda boards: erlang_b(load.offered_erlangs / boards, usable) <= load.max_blocking)


def _simulated(
    capacity: BoardCapacity, load: CallLoad, boards: int, usable: int, durations: Durations, calls: int, seed: int
) -> SimulatedLoss:
    hours = simulate(load, boards, usable, durations, calls, seed)
    interval = hours.lost.interval
    assert interval is not None, "a simulation has many batches"
    return SimulatedLoss(
        durations=durations,
        calls=calls,
        lost=hours.lost.value,
        lost_low=interval.low,
        lost_high=interval.high,
        late_share=hours.late_share(capacity.late_shares(usable)),
    )
