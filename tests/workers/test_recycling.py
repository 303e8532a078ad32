from __future__ import annotations

import pytest

from edge_asr.settings import WorkerSettings
from edge_asr.workers.recycling import Wear, reason_to_recycle

LIMITS = WorkerSettings(recycle_after_s=3600, recycle_after_sessions=100, recycle_after_growth_mib=64)
FRESH = Wear(age_s=10.0, sessions=1, grown_bytes=0)


@pytest.mark.parametrize(
    ("wear", "reason"),
    [
        (FRESH, ""),
        (Wear(3599.9, 99, (64 << 20) - 1), ""),
        (Wear(3600.0, 0, 0), "age"),
        (Wear(0.0, 100, 0), "sessions"),
        (Wear(0.0, 0, 64 << 20), "memory"),
        (Wear(3600.0, 100, 64 << 20), "memory"),
    ],
)
def test_a_worker_is_replaced_at_its_first_limit(wear, reason):
    assert reason_to_recycle(wear, LIMITS) == reason


def test_without_limits_a_worker_serves_for_ever():
    assert reason_to_recycle(Wear(1e9, 10**9, 1 << 40), WorkerSettings()) == ""
