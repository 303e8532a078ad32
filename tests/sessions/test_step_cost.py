from __future__ import annotations

import pytest

from edge_asr.sessions.step_cost import StepCost, StepCostFit, StepSums


def costs(fit: StepCostFit) -> list[float]:
    assert fit.cost is not None
    return [fit.cost.step_s, fit.cost.stream_s]


def steps(*sizes: int, step_s: float = 0.01, stream_s: float = 0.002) -> StepSums:
    """Sums of steps of these sizes that cost exactly so much."""
    total = StepSums()
    for size in sizes:
        seconds = step_s + size * stream_s
        total += StepSums(1, size, size * size, seconds, size * seconds)
    return total


def test_nothing_is_known_before_enough_steps() -> None:
    fit = StepCostFit()
    fit.add(steps(*[1] * 19))
    assert fit.cost is None


def test_both_costs_are_found_from_steps_of_different_sizes() -> None:
    fit = StepCostFit()
    fit.add(steps(*[1, 4, 2] * 20))
    assert costs(fit) == pytest.approx([0.01, 0.002])


def test_steps_of_one_size_do_not_promise_that_larger_ones_are_cheaper() -> None:
    fit = StepCostFit()
    fit.add(steps(*[1] * 30))
    assert costs(fit) == pytest.approx([0.0, 0.012])


def test_a_clock_that_has_slowed_down_is_noticed() -> None:
    fit = StepCostFit()
    fit.add(steps(*[1, 2] * 1000))
    fit.add(steps(*[1, 2] * 2000, step_s=0.02, stream_s=0.004))
    assert fit.cost is not None
    assert fit.cost.stream_s == pytest.approx(0.004, rel=0.02)


def test_costs_are_never_negative() -> None:
    fit = StepCostFit()
    fit.add(steps(*[1] * 20, step_s=0.1, stream_s=0.0) + steps(*[4] * 20, step_s=0.05, stream_s=0.0))
    assert costs(fit) == pytest.approx([0.075, 0.0])


def test_streams_without_a_saving_by_batches_share_the_time() -> None:
    assert StepCost(0.0, 0.01).streams(chunk_s=0.32, max_batch=16, max_load=0.9) == pytest.approx(28.8)


def test_steps_that_cost_more_than_their_streams_carry_more_in_batches() -> None:
    """Steps of 16 take 60 ms; in 288 ms of every 320 there is room for 4.8 of them."""
    assert StepCost(0.044, 0.001).streams(chunk_s=0.32, max_batch=16, max_load=0.9) == pytest.approx(76.8)


def test_waiting_for_the_running_step_bounds_the_streams_before_the_throughput_does() -> None:
    """Without a bound on batches there is no throughput limit, but two steps must fit between chunks."""
    streams = StepCost(0.05, 0.004).streams(chunk_s=0.32, max_batch=256, max_load=0.9)
    step_s = 0.05 / (1 - streams * 0.004 / 0.32)
    assert 2 * step_s == pytest.approx(0.9 * 0.32)


def test_a_step_that_takes_longer_than_a_chunk_carries_nobody() -> None:
    assert StepCost(0.4, 0.1).streams(chunk_s=0.32, max_batch=16, max_load=0.9) == 0.0
