"""How many boards: arithmetic, monotonicity, and the plan tried in a simulation."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_asr.bench.capacity import BoardCapacity, capacity_from_document
from edge_asr.bench.load import Arrivals, CallLoad, Reserve, StandingStreams
from edge_asr.bench.plan import Plan, plan_boards, usable_streams
from edge_asr.bench.processor_advice import advise
from tests.bench.documents import disturbed, document
from tests.bench.measurements import at_live_pace, repeated

IN_TIME = [100.0] * 700
LATE = [400.0] * 700
NOTHING = Reserve(headroom=0)


@pytest.fixture(scope="module")
def board() -> BoardCapacity:
    """Ten streams, two cores, 0.1 CPU seconds per second."""
    results = [
        at_live_pace(streams, IN_TIME if streams <= 10 else LATE, threads=2, peak_bytes=(100 + streams) << 20)
        for streams in (1, 10, 16)
    ]
    return capacity_from_document(document(*results, repeated(0.05)))


def planned(board: BoardCapacity, load: CallLoad | StandingStreams, reserve: Reserve = NOTHING) -> Plan:
    return plan_boards(board, load, reserve, simulated_calls=200)  # short ones, of small loads only


def calls(per_hour: float = 200, **parts: Any) -> CallLoad:
    return dataclasses.replace(CallLoad(calls_per_hour=per_hour, mean_duration_s=180), **parts)


def test_standing_streams_are_divided_by_what_a_board_carries(board: BoardCapacity) -> None:
    plan = planned(board, StandingStreams(25), Reserve(headroom=0.2, spare_boards=1))
    assert (plan.streams_per_board, plan.working_boards, plan.boards) == (8, 4, 5)
    assert plan.calls is None
    assert plan.busy_share == pytest.approx(25 / 32)
    assert plan.cpu_share == pytest.approx(25 / 4 * 0.1 / 2)
    assert plan.memory_per_board_bytes == 110 << 20
    assert plan.peak_streams == 25


def test_calls_are_planned_by_erlang_b(board: BoardCapacity) -> None:
    plan = planned(board, calls(peak_factor=2))
    assert plan.calls is not None
    assert plan.calls.offered_erlangs == pytest.approx(20)
    assert plan.streams_needed == 30  # the table: 20.3 erlangs at 1 %
    assert plan.working_boards == 3
    assert plan.calls.blocking == pytest.approx(0.0085, abs=0.0001)
    assert plan.peak_streams == 30


def test_boards_without_a_dispatcher_lose_the_trunking_gain(board: BoardCapacity) -> None:
    plan = planned(board, calls(peak_factor=2))
    assert plan.calls is not None
    assert plan.calls.boards_without_dispatcher == 5  # the table: 4.46 erlangs for each ten streams


@pytest.mark.parametrize("arrivals", ["uniform", "bursty"])
def test_only_independent_calls_can_be_split_at_random(board: BoardCapacity, arrivals: Arrivals) -> None:
    plan = planned(board, calls(arrivals=arrivals))
    assert plan.calls is not None
    assert plan.calls.boards_without_dispatcher is None


def test_bursts_need_more_boards_and_say_their_peakedness(board: BoardCapacity) -> None:
    even, independent, bursty = (
        planned(board, calls(600, arrivals=arrivals, burst_size=5.0)) for arrivals in ("uniform", "poisson", "bursty")
    )
    assert even.working_boards <= independent.working_boards < bursty.working_boards
    assert bursty.calls is not None
    assert bursty.calls.peakedness == pytest.approx(1 + 8 * 0.556)


@given(st.integers(1, 64), st.floats(0, 0.95))
def test_headroom_leaves_at_least_one_stream_and_never_more_than_there_are(streams: int, headroom: float) -> None:
    assert 1 <= usable_streams(streams, headroom) <= streams


def test_headroom_is_exact() -> None:
    assert [usable_streams(10, headroom) for headroom in (0, 0.1, 0.2, 0.3, 0.9)] == [10, 9, 8, 7, 1]


@settings(deadline=None, max_examples=25)
@given(st.floats(1, 2000), st.sampled_from(["uniform", "poisson", "bursty"]), st.floats(0.001, 0.2))
def test_more_calls_or_less_loss_never_take_fewer_boards(
    board: BoardCapacity, per_hour: float, arrivals: Arrivals, max_blocking: float
) -> None:
    load = calls(per_hour, arrivals=arrivals, max_blocking=max_blocking)
    plan = planned(board, load)
    assert plan.calls is not None
    assert plan.calls.blocking <= max_blocking
    assert planned(board, dataclasses.replace(load, calls_per_hour=per_hour * 1.5)).boards >= plan.boards
    assert planned(board, dataclasses.replace(load, max_blocking=max_blocking / 2)).boards >= plan.boards
    assert planned(board, load, Reserve(headroom=0.5)).boards >= plan.boards
    one_less = (plan.working_boards - 1) * plan.streams_per_board
    assert plan.working_boards == 1 or load.blocking(one_less) > max_blocking


@pytest.mark.parametrize("arrivals", ["uniform", "poisson", "bursty"])
@pytest.mark.parametrize("per_hour", [40, 300])
def test_a_simulation_of_the_planned_boards_loses_no_more_than_planned(
    board: BoardCapacity, arrivals: Arrivals, per_hour: float
) -> None:
    load = calls(per_hour, arrivals=arrivals, max_blocking=0.02)
    plan = plan_boards(board, load, Reserve(), simulated_calls=60_000, seed=2)
    assert plan.calls is not None
    assert [tried.durations for tried in plan.calls.simulated] == ["exponential", "lognormal"]
    assert all(tried.lost_low <= plan.calls.blocking for tried in plan.calls.simulated)
    assert all(tried.lost <= load.max_blocking for tried in plan.calls.simulated)
    assert all(tried.late_share < 0.01 for tried in plan.calls.simulated)


def test_a_load_too_great_for_the_simulation_goes_without_one(board: BoardCapacity) -> None:
    plan = plan_boards(board, calls(2000), Reserve(), simulated_calls=1_000)
    assert plan.calls is not None
    assert plan.calls.simulated == ()


def test_bandwidth_is_per_stream(board: BoardCapacity) -> None:
    assert planned(board, StandingStreams(3)).bandwidths == planned(board, StandingStreams(300)).bandwidths


def test_every_assumption_of_the_load_is_named(board: BoardCapacity) -> None:
    said = "\n".join(planned(board, calls(arrivals="bursty"), Reserve(spare_boards=2)).assumptions)
    for word in (
        "10 streams",
        "headroom",
        "2 boards in reserve",
        "bursts",
        "peakedness",
        "silence included",
        "try again",
    ):
        assert word in said
    assert "always on" in "\n".join(planned(board, StandingStreams(1)).assumptions)


def test_what_the_bench_does_not_support_is_warned_of() -> None:
    edge = disturbed(at_live_pace(1, [319.0] * 690 + [321.0] * 6))
    warnings = planned(capacity_from_document(document(edge)), StandingStreams(1), Reserve(headroom=0.2)).warnings
    said = "\n".join(warnings)
    assert "invalid: the board throttled" in said
    assert "nothing above 1 stream was tried" in said
    assert "at the edge" in said
    assert "too few streams to keep a headroom" in said


def test_a_measured_limit_and_an_undisturbed_run_need_no_warning(board: BoardCapacity) -> None:
    assert planned(board, StandingStreams(1)).warnings == ()


def test_a_service_that_fills_the_board_is_warned_of() -> None:
    small = {"model": "Raspberry Pi 3 Model B", "memory_bytes": 1 << 30}
    full = capacity_from_document(document(at_live_pace(2, IN_TIME, peak_bytes=900 << 20), board=small))
    assert any("80 % of the board's memory" in warning for warning in planned(full, StandingStreams(1)).warnings)


def test_one_board_that_carries_the_load_needs_no_accelerator(board: BoardCapacity) -> None:
    verdicts = {advice.processor: advice.verdict for advice in advise(board, 1, 3)}
    assert verdicts["cpu"].startswith("enough")
    assert verdicts["npu"].startswith("not needed")
    assert verdicts["gpu"].startswith("not needed")


def test_advice_shows_its_arithmetic(board: BoardCapacity) -> None:
    arithmetic = {advice.processor: "\n".join(advice.arithmetic) for advice in advise(board, 4, 40)}
    assert "10 streams x 0.100 CPU seconds per second of audio = 1.00 of 2 cores, 50%" in arithmetic["cpu"]
    assert "320 ms / 11 = 29.1 ms" in arithmetic["npu"]
    assert "1 / (1 - 0.900) = 10.0 times" in arithmetic["npu"]
    assert "40 streams x 1000 / 320 = 125 chunks per second" in arithmetic["gpu"]


def test_without_a_throughput_run_the_models_share_is_asked_for() -> None:
    capacity = capacity_from_document(document(at_live_pace(4, IN_TIME)))
    assert any("--mode both" in line for advice in advise(capacity, 2, 8) for line in advice.arithmetic)
