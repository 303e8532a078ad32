from __future__ import annotations

import os
import subprocess
import sys

import pytest

from edge_asr.resources.memory import (
    available_bytes,
    read_oom_kills,
    read_process_memory,
    read_proportional_bytes,
    reset_peak,
    total_bytes,
    trim_heap,
)
from tests.boards import raspberry_pi_4, write_tree

MIB = 1 << 20


def test_figures_of_a_process_are_bytes(tmp_path):
    write_tree(
        tmp_path,
        {
            "proc/7/status": "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB",
            "proc/7/smaps_rollup": "55-7f ---p 00000000 00:00 0 [rollup]\nRss: 1024 kB\nPss: 512 kB\nPss_Dirty: 1 kB",
        },
    )
    memory = read_process_memory(7, tmp_path)
    assert (memory.resident_bytes, memory.peak_resident_bytes) == (MIB, 2 * MIB)
    assert read_proportional_bytes(7, tmp_path) == MIB // 2


def test_a_process_that_has_ended_is_an_error(tmp_path):
    with pytest.raises(ProcessLookupError, match="process 7 has ended"):
        read_process_memory(7, tmp_path)


def test_a_process_that_nobody_waited_for_has_ended_too(tmp_path):
    write_tree(tmp_path, {"proc/7/status": "Name:\tx\nState:\tZ (zombie)"})
    with pytest.raises(ProcessLookupError):
        read_process_memory(7, tmp_path)


def test_this_process_is_read_from_the_real_kernel():
    memory = read_process_memory(os.getpid())
    assert 0 < read_proportional_bytes(os.getpid()) <= memory.peak_resident_bytes
    assert memory.resident_bytes <= memory.peak_resident_bytes


def test_available_memory_is_the_machines_where_no_group_limits_it(tmp_path):
    assert available_bytes(raspberry_pi_4(tmp_path)) == 3433192 * 1024


def test_available_memory_is_what_a_tighter_group_leaves(tmp_path):
    raspberry_pi_4(tmp_path)
    group = "sys/fs/cgroup/system.slice/edge-asr.service"
    write_tree(
        tmp_path,
        {
            f"{group}/memory.max": str(256 * MIB),
            f"{group}/memory.current": str(100 * MIB),
            f"{group}/memory.stat": f"anon 1\ninactive_file {20 * MIB}",
        },
    )
    assert available_bytes(tmp_path) == 176 * MIB


def test_available_memory_of_a_group_beyond_its_limit_is_nothing(tmp_path):
    raspberry_pi_4(tmp_path)
    group = "sys/fs/cgroup/system.slice/edge-asr.service"
    write_tree(tmp_path, {f"{group}/memory.max": str(MIB), f"{group}/memory.current": str(2 * MIB)})
    assert available_bytes(tmp_path) == 0


def test_memory_of_the_machine_is_what_the_kernel_may_use(tmp_path):
    assert total_bytes(raspberry_pi_4(tmp_path / "pi")) == 3885396 * 1024
    assert total_bytes(tmp_path) is None


def test_a_peak_that_was_reset_starts_over_from_what_is_used_now():
    script = """
import os
from edge_asr.resources.memory import read_process_memory, reset_peak
block = bytearray(b"x" * (64 << 20))
del block
high = read_process_memory(os.getpid()).peak_resident_bytes
assert reset_peak(os.getpid())
print(high - read_process_memory(os.getpid()).peak_resident_bytes)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(ran.stdout) > 50 * MIB


def test_a_peak_that_cannot_be_reset_is_no_error_and_makes_no_file(tmp_path):
    assert reset_peak(7, write_tree(tmp_path, {"proc/7/status": "Name:\tx"})) is False
    assert not (tmp_path / "proc/7/clear_refs").exists()


def test_trimming_gives_a_freed_heap_back_to_the_kernel():
    script = """
import os
from edge_asr.resources.memory import read_process_memory, trim_heap
blocks = [bytes(1000) for _ in range(100_000)]
keep = bytes(1000)
full = read_process_memory(os.getpid()).resident_bytes
del blocks
trim_heap()
print(full - read_process_memory(os.getpid()).resident_bytes)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(ran.stdout) > 50 * MIB


def test_trimming_twice_says_whether_there_was_anything():
    trim_heap()
    assert trim_heap() in (True, False)


def test_processes_ended_for_want_of_memory_are_counted(tmp_path):
    assert read_oom_kills(tmp_path) is None
    write_tree(tmp_path, {"proc/vmstat": "pgfault 12\noom_kill 3\n"})
    assert read_oom_kills(tmp_path) == 3
