from __future__ import annotations

from edge_asr.resources.cgroup import memory_headroom_bytes, memory_limit_bytes
from tests.support.machine import raspberry_pi_4, write_tree

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
