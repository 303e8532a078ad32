"""Boards by what a decoding step costs there, and the figure that simulations of them are judged by."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from edge_asr.sessions.step_cost import StepCost
from edge_asr.statistics import Percentile, percentile

CHUNK_S = 0.32

BATCHES_SAVE_NOTHING = pytest.param(StepCost(0.0, 0.010), 16, id="batches save nothing")
TWO_CORES = pytest.param(StepCost(0.010, 0.0), 2, id="two cores side by side")
BATCHES_SAVE_MUCH = pytest.param(StepCost(0.020, 0.004), 16, id="batches save much")
SLOW_BOARD = pytest.param(StepCost(0.005, 0.030), 8, id="a slow board")


def p99(latencies: Sequence[float]) -> float:
    """Of a sample that is large enough."""
    found = percentile(latencies, 99)
    assert isinstance(found, Percentile)
    return found.value
