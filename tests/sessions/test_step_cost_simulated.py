"""The capacity that follows from a step's cost, against a simulation of the streams: chunks arrive, steps are done."""

from __future__ import annotations

import heapq
import random

import pytest

from edge_asr.sessions.step_cost import StepCost
from tests.sessions.step_costs import BATCHES_SAVE_MUCH, BATCHES_SAVE_NOTHING, CHUNK_S, SLOW_BOARD, TWO_CORES, p99

SECONDS = 60.0


def p99_s(cost: StepCost, streams: int, max_batch: int, seed: int = 1) -> float:
    """From a chunk being there to the end of its step; streams never pause, none in step with another."""
    draw = random.Random(seed)
    arrivals = [(draw.uniform(0, CHUNK_S), stream) for stream in range(streams)]
    heapq.heapify(arrivals)
    waiting: list[float] = []
    latencies: list[float] = []
    now_s = 0.0
    while now_s < SECONDS:
        while arrivals[0][0] <= now_s:
            at_s, stream = heapq.heappop(arrivals)
            heapq.heappush(waiting, at_s)
            heapq.heappush(arrivals, (at_s + CHUNK_S, stream))
        if not waiting:
            now_s = arrivals[0][0]
            continue
        batch = [heapq.heappop(waiting) for _ in range(min(max_batch, len(waiting)))]
        now_s += cost.step_s + len(batch) * cost.stream_s
        latencies += [now_s - at_s for at_s in batch]
    return p99(latencies)


COSTS = [
    BATCHES_SAVE_NOTHING,
    TWO_CORES,
    BATCHES_SAVE_MUCH,
    pytest.param(StepCost(0.060, 0.002), 64, id="long steps"),
    SLOW_BOARD,
]


@pytest.mark.parametrize(("cost", "max_batch"), COSTS)
def test_at_capacity_every_chunk_is_decoded_before_the_next(cost: StepCost, max_batch: int) -> None:
    capacity = int(cost.streams(CHUNK_S, max_batch, max_load=0.9))
    assert p99_s(cost, capacity, max_batch) < CHUNK_S


@pytest.mark.parametrize(("cost", "max_batch"), COSTS)
def test_half_as_many_again_are_too_many(cost: StepCost, max_batch: int) -> None:
    capacity = int(cost.streams(CHUNK_S, max_batch, max_load=0.9))
    assert p99_s(cost, round(1.5 * capacity), max_batch) > CHUNK_S
