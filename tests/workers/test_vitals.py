from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from edge_asr.resources.delegation import WorkerGroup
from edge_asr.settings import SchedulerSettings, Settings, WorkerSettings
from edge_asr.workers.messages import Stats
from edge_asr.workers.vitals import Vitals
from tests.boards import write_tree
from tests.support.values import READY, STATS

MIB = 1 << 20
SECOND_NS = 1_000_000_000
LIMITED = Settings(worker=WorkerSettings(memory_limit_mib=120))


def vitals(
    settings: Settings | None = None, cpus: tuple[int, ...] = (2, 3), group: WorkerGroup | None = None
) -> Vitals:
    made = Vitals("0", settings or Settings(), cpus, group)
    made.began(READY, lambda: 100 * MIB)
    return made


def after(before: Stats, **added: float) -> Stats:
    """A later report."""
    return msgspec.structs.replace(before, **{name: getattr(before, name) + more for name, more in added.items()})


WORK = {"batches": 100, "batched_streams": 100, "streams_squared": 100, "live_streams": 100}
TIME = {"decode_s": 1.0, "stream_decode_s": 1.0, "live_decode_s": 1.0}


def test_two_reports_make_a_capacity() -> None:
    """A hundred steps of one stream took a second; 0.9 of a chunk has room for as many."""
    worker = vitals()
    worker.report(STATS, 1, SECOND_NS)
    worker.report(after(STATS, **WORK, **TIME), 1, 2 * SECOND_NS)
    assert worker.load.capacity == pytest.approx(0.9 * READY.chunk_ms / 1000 / 0.01)
    assert worker.load.busy == 1.0


def test_after_a_pause_counting_begins_again() -> None:
    worker = vitals()
    worker.report(STATS, 1, SECOND_NS)
    worker.report(after(STATS, **WORK, **TIME), 1, 10 * SECOND_NS)
    assert worker.load.capacity == math.inf


def test_a_new_process_counts_from_its_own_start_and_keeps_what_was_learned() -> None:
    worker = vitals()
    worker.report(STATS, 1, SECOND_NS)
    worker.report(after(STATS, **WORK, **TIME), 1, 2 * SECOND_NS)
    known = worker.load.capacity
    worker.began(msgspec.structs.replace(READY, pid=READY.pid + 1), lambda: 90 * MIB)
    worker.report(STATS, 1, 3 * SECOND_NS)
    assert (worker.load.capacity, worker.resident_bytes) == (known, STATS.rss_bytes)


def test_steps_that_hold_few_streams_bound_the_capacity() -> None:
    worker = Vitals("0", Settings(scheduler=SchedulerSettings(max_batch=16)), ())
    worker.began(msgspec.structs.replace(READY, streams_per_step=2), lambda: 0)
    worker.report(STATS, 1, SECOND_NS)
    mixed = {"batches": 100, "batched_streams": 150, "streams_squared": 250, "decode_s": 1.0, "stream_decode_s": 1.5}
    worker.report(after(STATS, **mixed), 1, 2 * SECOND_NS)
    assert worker.load.capacity == pytest.approx(2 * 0.9 * READY.chunk_ms / 1000 / 0.01)


def test_memory_is_compared_with_the_limits_since_it_was_ready() -> None:
    worker = vitals(LIMITED)
    assert worker.pressure == "none"
    pressures = []
    for resident in (114, 115, 120):
        worker.report(msgspec.structs.replace(STATS, rss_bytes=resident * MIB), 1, SECOND_NS)
        pressures.append(worker.pressure)
    assert pressures == ["none", "soft", "hard"]


def test_the_kernel_is_told_the_limits_too(tmp_path: Path) -> None:
    vitals(LIMITED, group=WorkerGroup(tmp_path))
    high, most = ((tmp_path / name).read_text() for name in ("memory.high", "memory.max"))
    assert (int(high), int(most)) == ((115 + 120) * MIB // 2, 120 * MIB)


def test_a_thread_that_leaves_the_cores_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    status = "Name:\tpython3\nCpus_allowed_list:\t{}"
    tasks = {f"proc/{READY.pid}/task/{READY.pid}/status": status.format("2-3")}
    write_tree(tmp_path, tasks | {f"proc/{READY.pid}/task/7/status": status.format("0-3")})
    worker = vitals()
    worker.look_at_threads(tmp_path)
    worker.look_at_threads(tmp_path)
    assert worker.escaped == {7: frozenset((0, 1, 2, 3))}
    assert caplog.text.count("1 threads may leave the cores [2, 3]; the first, 7, may run on [0, 1, 2, 3]") == 1


def test_a_worker_without_cores_of_its_own_cannot_leave_them(tmp_path: Path) -> None:
    worker = vitals(cpus=())
    worker.look_at_threads(tmp_path)
    assert worker.escaped == {}


def test_a_worker_that_has_just_ended_is_passed_over(tmp_path: Path) -> None:
    worker = vitals()
    worker.look_at_threads(tmp_path)
    assert worker.escaped == {}


def test_no_limit_means_no_pressure() -> None:
    worker = vitals(Settings(worker=replace(WorkerSettings(), memory_limit_mib=0)))
    worker.report(msgspec.structs.replace(STATS, rss_bytes=1 << 40), 1, SECOND_NS)
    assert worker.pressure == "none"
