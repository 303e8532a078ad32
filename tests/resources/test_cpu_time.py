from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from edge_asr.resources.cpu_time import CpuTime, ProcessTree, read_machine_cpu_time, read_process_tree
from tests.boards import raspberry_pi_4, virtual_machine, write_tree

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def process(pid: int, parent: int, own_ticks: int, waited_ticks: int = 0, name: str = "python3") -> dict[str, str]:
    """``/proc/PID/stat``: half of the own time is the system's."""
    user, system = own_ticks - own_ticks // 2, own_ticks // 2
    fields = f"{pid} ({name}) S {parent} {pid} {pid} 0 -1 4194304 104 0 0 0 {user} {system} {waited_ticks} 0 20 0 1 0"
    return {f"proc/{pid}/stat": fields}


def test_the_first_line_is_all_cores_and_each_has_its_own(tmp_path):
    time = read_machine_cpu_time(raspberry_pi_4(tmp_path))
    assert time is not None
    assert time.total == CpuTime(busy_s=16_000 / TICKS_PER_S, idle_s=360_000 / TICKS_PER_S, stolen_s=0)
    assert time.cores[3] == CpuTime(busy_s=4000 / TICKS_PER_S, idle_s=90_000 / TICKS_PER_S, stolen_s=0)


def test_stolen_time_is_neither_busy_nor_idle(tmp_path):
    time = read_machine_cpu_time(virtual_machine(tmp_path))
    assert time is not None
    assert time.total.stolen_s == 80 / TICKS_PER_S


def test_interrupts_are_work_and_waiting_for_a_disk_is_not(tmp_path):
    write_tree(tmp_path, {"proc/stat": "cpu  1 2 4 8 16 32 64 128 1 2"})
    time = read_machine_cpu_time(tmp_path)
    assert time is not None
    ticks = [round(seconds * TICKS_PER_S) for seconds in (time.total.busy_s, time.total.idle_s, time.total.stolen_s)]
    assert ticks == [1 + 2 + 4 + 32 + 64, 8 + 16, 128]


def test_idle_time_that_goes_back_by_a_tick_adds_nothing():
    assert CpuTime(5, 9.99, 0).since(CpuTime(4, 10, 0)) == CpuTime(1, 0, 0)


def test_a_machine_without_counters_says_nothing(tmp_path):
    assert read_machine_cpu_time(tmp_path) is None


def tree(pid: int, root: Path = Path("/")) -> ProcessTree:
    found = read_process_tree(pid, root)
    assert found is not None
    return found


def test_a_tree_is_a_process_and_all_below_it(tmp_path):
    files = process(10, 1, 0) | process(11, 10, 0) | process(12, 11, 0) | process(20, 1, 0)
    assert set(tree(10, write_tree(tmp_path, files)).pids) == {10, 11, 12}


def test_time_of_a_tree_adds_up_with_that_of_children_waited_for(tmp_path):
    files = process(10, 1, 100, waited_ticks=50) | process(11, 10, 200) | process(20, 1, 1000)
    assert tree(10, write_tree(tmp_path, files)).cpu_s == 350 / TICKS_PER_S


def test_a_name_with_spaces_and_parentheses_shifts_no_field(tmp_path):
    write_tree(tmp_path, process(10, 1, 100, name="a (b) c"))
    assert tree(10, tmp_path).cpu_s == 100 / TICKS_PER_S


def test_a_process_that_has_ended_has_no_tree(tmp_path):
    assert read_process_tree(10, write_tree(tmp_path, process(11, 1, 5))) is None


def test_a_child_that_was_waited_for_stays_counted_on_the_real_kernel():
    before = tree(os.getpid()).cpu_s
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"], check=True)
    assert tree(os.getpid()).cpu_s - before >= 0.28
