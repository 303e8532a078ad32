from __future__ import annotations

import os

import msgspec

from edge_asr.bench.snapshot import Snapshot, take_snapshot
from tests.boards import raspberry_pi_4, rk3588, virtual_machine, write_tree

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PROCESS_7 = {
    "proc/7/stat": "7 (python3) S 1 7 7 0 -1 4194304 104 0 0 0 300 100 0 0 20 0 1 0",
    "proc/7/status": "Name:\tpython3\nVmHWM:\t    4096 kB\nVmRSS:\t    2048 kB",
    "proc/8/stat": "8 (worker) S 7 7 7 0 -1 4194304 104 0 0 0 100 0 0 0 20 0 1 0",
    "proc/8/status": "Name:\tworker\nVmHWM:\t    1024 kB\nVmRSS:\t    1024 kB",
}


def test_a_snapshot_of_a_raspberry_pi_holds_power_heat_and_clock(tmp_path):
    snapshot = take_snapshot(raspberry_pi_4(tmp_path))
    assert snapshot.throttling is not None
    assert snapshot.temperature_celsius == 48.312
    assert [policy.governor for policy in snapshot.policies] == ["ondemand"]
    assert snapshot.paging is not None


def test_time_and_memory_of_our_processes_add_up(tmp_path):
    snapshot = take_snapshot(write_tree(raspberry_pi_4(tmp_path), PROCESS_7), tree_pid=7)
    assert snapshot.tree_cpu_s == 500 / TICKS_PER_S
    assert (snapshot.resident_bytes, snapshot.peak_resident_bytes) == (3 << 20, 5 << 20)


def test_processes_that_have_ended_have_no_memory(tmp_path):
    snapshot = take_snapshot(raspberry_pi_4(tmp_path), tree_pid=7)
    assert (snapshot.tree_cpu_s, snapshot.resident_bytes, snapshot.peak_resident_bytes) == (None, None, None)


def test_what_a_machine_does_not_say_stays_unknown(tmp_path):
    snapshot = take_snapshot(virtual_machine(tmp_path))
    assert (snapshot.throttling, snapshot.under_voltage_alarm, snapshot.temperature_celsius) == (None, None, None)
    assert (snapshot.policies, snapshot.paging, snapshot.cpu_throttling) == ((), None, None)


def test_a_snapshot_survives_the_report(tmp_path):
    snapshot = take_snapshot(write_tree(rk3588(tmp_path), PROCESS_7), tree_pid=7)
    assert msgspec.json.decode(msgspec.json.encode(snapshot), type=Snapshot) == snapshot


def test_a_daemon_that_is_measured_is_ours_too(tmp_path):
    others = {
        name.replace("proc/7/", "proc/8/"): text for name, text in PROCESS_7.items() if name.startswith("proc/7/")
    }
    root = write_tree(write_tree(raspberry_pi_4(tmp_path), PROCESS_7), others)
    alone, both = take_snapshot(root, tree_pid=7), take_snapshot(root, tree_pid=7, other_trees=(8,))
    assert alone.tree_cpu_s is not None
    assert both.tree_cpu_s == 2 * alone.tree_cpu_s


def test_a_tree_inside_another_counts_once(tmp_path):
    root = write_tree(raspberry_pi_4(tmp_path), PROCESS_7)
    assert take_snapshot(root, tree_pid=7, other_trees=(7,)).tree_cpu_s == take_snapshot(root, tree_pid=7).tree_cpu_s
