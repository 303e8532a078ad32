from __future__ import annotations

import pytest

from edge_asr.resources.cgroup import (
    CpuThrottling,
    has_memory_controller,
    memory_headroom_bytes,
    memory_limit_bytes,
    memory_peak_bytes,
    own_group,
    read_cpu_throttling,
)
from tests.boards import raspberry_pi_4, rk3588, virtual_machine, write_tree, x86_server

MIB = 1 << 20


def test_no_memory_controller_means_no_limit(tmp_path):
    raspberry_pi_4(tmp_path)
    assert memory_limit_bytes(tmp_path) is None
    assert memory_headroom_bytes(tmp_path) is None


def test_the_tightest_group_on_the_way_up_counts(tmp_path):
    write_tree(
        tmp_path,
        {
            "proc/self/cgroup": "0::/system.slice/edge-asr.service",
            "sys/fs/cgroup/system.slice/edge-asr.service/memory.max": "max",
            "sys/fs/cgroup/system.slice/memory.max": str(300 * MIB),
        },
    )
    assert memory_limit_bytes(tmp_path) == 300 * MIB


def test_version_1_has_its_own_files_and_its_own_word_for_no_limit(tmp_path):
    group = "sys/fs/cgroup/memory/box"
    write_tree(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/box\n3:cpuset:/\n0::/",
            f"{group}/memory.limit_in_bytes": str(200 * MIB),
            f"{group}/memory.usage_in_bytes": str(50 * MIB),
            f"{group}/memory.stat": f"cache 1\ntotal_inactive_file {10 * MIB}",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        },
    )
    assert memory_limit_bytes(tmp_path) == 200 * MIB
    assert memory_headroom_bytes(tmp_path) == 160 * MIB


def test_inside_a_container_the_mount_is_our_own_group(tmp_path):
    write_tree(
        tmp_path,
        {
            "proc/self/cgroup": "0::/docker/0123abcd",
            "sys/fs/cgroup/memory.max": str(128 * MIB),
            "sys/fs/cgroup/memory.current": "0",
        },
    )
    assert memory_limit_bytes(tmp_path) == 128 * MIB


def test_a_kernel_without_control_groups_has_no_limit(tmp_path):
    assert memory_limit_bytes(tmp_path) is None


def test_the_peak_is_that_of_our_own_group(tmp_path):
    raspberry_pi_4(tmp_path)
    group = "sys/fs/cgroup/system.slice/edge-asr.service"
    write_tree(tmp_path, {f"{group}/memory.peak": str(70 * MIB), "sys/fs/cgroup/system.slice/memory.peak": str(MIB)})
    assert memory_peak_bytes(tmp_path) == 70 * MIB


def test_version_1_calls_the_peak_otherwise(tmp_path):
    assert memory_peak_bytes(x86_server(tmp_path)) == 700 * MIB


def test_a_group_that_counts_no_memory_has_no_peak(tmp_path):
    assert memory_peak_bytes(raspberry_pi_4(tmp_path)) is None


@pytest.mark.parametrize(
    ("board", "has_it"), [(raspberry_pi_4, False), (rk3588, True), (x86_server, True), (virtual_machine, None)]
)
def test_whether_memory_can_be_limited_at_all(board, has_it, tmp_path):
    assert has_memory_controller(board(tmp_path)) is has_it


def test_version_1_without_its_memory_hierarchy_cannot_limit_memory(tmp_path):
    write_tree(tmp_path, {"proc/self/cgroup": "3:cpuset:/", "sys/fs/cgroup/cpuset/tasks": "1"})
    assert has_memory_controller(tmp_path) is False


def test_a_quota_above_us_stops_us_too(tmp_path):
    group = "sys/fs/cgroup/system.slice"
    ours = "usage_usec 5\nnr_periods 9\nnr_throttled 2\nthrottled_usec 1500000"
    above = "usage_usec 5\nnr_periods 9\nnr_throttled 1\nthrottled_usec 500000"
    write_tree(
        raspberry_pi_4(tmp_path),
        {f"{group}/edge-asr.service/cpu.stat": ours, f"{group}/cpu.stat": above},
    )
    assert read_cpu_throttling(tmp_path) == CpuThrottling(periods=3, stopped_s=2.0)


def test_version_1_counts_stopped_time_in_nanoseconds(tmp_path):
    assert read_cpu_throttling(x86_server(tmp_path)) == CpuThrottling(periods=3, stopped_s=0.25)


def test_groups_without_quota_count_nothing(tmp_path):
    assert read_cpu_throttling(raspberry_pi_4(tmp_path)) is None


def test_our_group_is_that_of_version_2_or_of_systemds_own_hierarchy(tmp_path):
    assert own_group(raspberry_pi_4(tmp_path / "pi")) == "/system.slice/edge-asr.service"
    write_tree(tmp_path, {"proc/self/cgroup": "9:name=systemd:/user.slice\n4:memory:/box\n0::/"})
    assert own_group(tmp_path) == "/user.slice"
    assert own_group(tmp_path / "nothing") == ""
