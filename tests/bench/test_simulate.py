"""The event simulation against the formulas, within its own confidence interval."""

from __future__ import annotations

import pytest

from edge_asr.bench.load import Arrivals, CallLoad
from edge_asr.bench.simulate import Durations, SimulatedHours, simulate
from edge_asr.statistics import Ratio


def calls(arrivals: Arrivals = "poisson", per_hour: float = 120, **parts: float) -> CallLoad:
    return CallLoad(calls_per_hour=per_hour, mean_duration_s=180, arrivals=arrivals, **parts)


def is_within(hours: SimulatedHours, blocking: float) -> bool:
    assert hours.lost.interval is not None
    return not hours.lost.interval.excludes(blocking)


@pytest.mark.parametrize("durations", ["exponential", "lognormal", "constant"])
def test_independent_calls_lose_what_erlang_b_says_whatever_their_durations(durations: Durations) -> None:
    load = calls()
    assert is_within(simulate(load, 5, 2, durations, seed=1), load.blocking(10))


def test_even_calls_lose_what_takacs_says() -> None:
    load = calls("uniform")
    assert is_within(simulate(load, 4, 2, "exponential", seed=1), load.blocking(8))


def test_bursts_lose_no_more_than_the_peakedness_method_says() -> None:
    load = calls("bursty", burst_size=3.0)
    for durations in ("exponential", "lognormal"):
        lost = simulate(load, 8, 2, durations, seed=1).lost
        assert lost.interval is not None
        assert lost.interval.low < load.blocking(16)
    assert not is_within(simulate(load, 8, 2, "exponential", seed=1), CallLoad(120, 180).blocking(16))


def test_the_board_with_the_fewest_calls_takes_the_next() -> None:
    hours = simulate(calls(per_hour=60), 30, 2, calls=5_000)
    assert hours.lost.value == 0
    assert hours.time_at_streams[2] == 0  # three calls on average never fill thirty boards once


def test_the_mean_number_of_calls_is_the_load_that_was_carried() -> None:
    load = calls()
    hours = simulate(load, 5, 2, "exponential")
    assert 5 * hours.mean_streams == pytest.approx(load.offered_erlangs * (1 - hours.lost.value), rel=0.03)
    assert sum(hours.time_at_streams) == pytest.approx(1)


def test_the_same_seed_gives_the_same_hours() -> None:
    assert simulate(calls(), 2, 4, calls=2_000, seed=3) == simulate(calls(), 2, 4, calls=2_000, seed=3)
    assert simulate(calls(), 2, 4, calls=2_000, seed=3) != simulate(calls(), 2, 4, calls=2_000, seed=4)


def test_late_chunks_are_weighed_by_the_streams_that_have_them() -> None:
    hours = SimulatedHours(lost=Ratio(0, None, 1), time_at_streams=(0.5, 0.25, 0.25))
    assert hours.late_share((0, 0.03, 0.06)) == pytest.approx((0.25 * 0.03 + 0.5 * 0.06) / 0.75)
    assert SimulatedHours(Ratio(0, None, 1), (1.0, 0.0)).late_share((0, 0.5)) == 0
