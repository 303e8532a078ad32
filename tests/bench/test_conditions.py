from __future__ import annotations

import threading

import msgspec
import pytest

from edge_asr.bench import conditions
from edge_asr.bench.conditions import ConditionsRecord, ConditionsRecorder, Snapshot, take_snapshot, violations
from tests.boards import raspberry_pi_4, write_tree

THROTTLED = "sys/devices/platform/soc/soc:firmware/get_throttled"


def test_a_bit_that_is_set_between_start_and_stop_spoils_the_run(tmp_path):
    recorder = ConditionsRecorder(interval_s=60, root=raspberry_pi_4(tmp_path))
    recorder.start()
    write_tree(tmp_path, {THROTTLED: "10000"})
    record = recorder.stop()
    assert [found.code for found in violations(record.before, record.samples, record.after)] == ["under_voltage"]


def test_the_thread_reads_in_between(tmp_path, monkeypatch):
    taken = threading.Semaphore(0)

    def counted(*arguments: object) -> Snapshot:
        snapshot = take_snapshot(tmp_path)
        taken.release()
        return snapshot

    monkeypatch.setattr(conditions, "take_snapshot", counted)
    recorder = ConditionsRecorder(interval_s=0.001, root=raspberry_pi_4(tmp_path))
    recorder.start()
    assert all(taken.acquire(timeout=30) for _ in range(4))
    record = recorder.stop()
    times = [snapshot.taken_ns for snapshot in (record.before, *record.samples, record.after)]
    assert len(times) >= 5
    assert times == sorted(times)


def test_a_recorder_that_was_never_started_has_nothing_to_say():
    with pytest.raises(RuntimeError, match="never started"):
        ConditionsRecorder().stop()


def test_no_thread_is_left_behind(tmp_path):
    recorder = ConditionsRecorder(interval_s=60, root=raspberry_pi_4(tmp_path))
    recorder.start()
    recorder.stop()
    assert "conditions" not in {thread.name for thread in threading.enumerate()}


def test_a_record_survives_the_report(tmp_path):
    recorder = ConditionsRecorder(interval_s=60, root=raspberry_pi_4(tmp_path))
    recorder.start()
    record = recorder.stop()
    assert msgspec.json.decode(msgspec.json.encode(record), type=ConditionsRecord) == record


def test_this_machine_can_be_recorded():
    recorder = ConditionsRecorder(interval_s=60)
    recorder.start()
    record = recorder.stop()
    assert record.after.tree_cpu_s is not None
    assert record.before.tree_cpu_s is not None
    assert record.after.tree_cpu_s >= record.before.tree_cpu_s
