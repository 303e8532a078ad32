"""Seeing from outside that a worker stands still and nobody replaces it."""

from __future__ import annotations

import msgspec
import pytest

from edge_asr.servers.progress import GRACE_S, ProgressWatch
from edge_asr.settings import WorkerSettings
from edge_asr.workers.base import WorkerStatus
from tests.support.values import STATS

SETTINGS = WorkerSettings(hang_timeout_s=10.0, stall_timeout_s=60.0, load_timeout_s=120.0, max_restart_delay_s=30.0)
BUSY = WorkerStatus("0", "ready", "", 42, 0, 2, STATS)
LATEST_REPORT_S = 60.0 + GRACE_S
LATEST_LOAD_S = 150.0 + GRACE_S


def replaced(worker: WorkerStatus, **fields: object) -> WorkerStatus:
    return msgspec.structs.replace(worker, **fields)


@pytest.fixture
def watch() -> ProgressWatch:
    return ProgressWatch(SETTINGS)


def test_a_worker_that_reports_is_fine(watch: ProgressWatch) -> None:
    for second in range(200):
        report = msgspec.structs.replace(STATS, cpu_s=float(second))
        assert watch.stuck([replaced(BUSY, stats=report)], float(second)) == ""


def test_a_busy_worker_without_reports_is_stuck_once_its_supervisor_should_have_replaced_it(
    watch: ProgressWatch,
) -> None:
    assert watch.stuck([BUSY], 0.0) == ""
    assert watch.stuck([BUSY], LATEST_REPORT_S) == ""
    assert "worker 0 has sessions and reported nothing for 76 s" in watch.stuck([BUSY], LATEST_REPORT_S + 1)


def test_a_worker_without_sessions_may_be_silent(watch: ProgressWatch) -> None:
    idle = replaced(BUSY, sessions=0)
    assert [watch.stuck([idle], at) for at in (0.0, 1000.0, 2000.0)] == ["", "", ""]
    assert watch.stuck([BUSY], 2001.0) == ""  # what it did not say before there was work tells nothing


def test_a_load_may_take_as_long_as_it_is_allowed_to(watch: ProgressWatch) -> None:
    loading = replaced(BUSY, state="restarting", stats=None)
    assert watch.stuck([loading], 0.0) == ""
    assert watch.stuck([loading], LATEST_LOAD_S) == ""
    assert "is restarting for 166 s" in watch.stuck([loading], LATEST_LOAD_S + 1)


def test_a_worker_that_cannot_be_loaded_is_no_reason_as_long_as_it_is_tried_again(watch: ProgressWatch) -> None:
    for number in range(10):
        failed = replaced(BUSY, state="failed", stats=None, pid=0, restarts=number)
        assert watch.stuck([failed], 100.0 * number) == ""


def test_one_stuck_worker_among_others_is_found(watch: ProgressWatch) -> None:
    for second in range(200):
        fine = replaced(BUSY, name="1", stats=msgspec.structs.replace(STATS, cpu_s=float(second)))
        verdict = watch.stuck([fine, BUSY], float(second))
    assert verdict.startswith("worker 0 ")
