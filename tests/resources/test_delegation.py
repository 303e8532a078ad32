"""Control groups of workers, on trees as systemd and the kernel lay them out: the writes are the kernel's interface."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from edge_asr.resources.delegation import WorkerGroup, take_delegated_group
from tests.boards import raspberry_pi_5, rk3588, write_tree, x86_server

SERVICE = "sys/fs/cgroup/system.slice/edge-asr.service"


def delegated(root: Path, path: str = "/system.slice/edge-asr.service") -> Path:
    """A service with ``Delegate=memory``."""
    rk3588(root)
    files = {f"{SERVICE}/cgroup.controllers": "memory pids", f"{SERVICE}/cgroup.subtree_control": ""}
    write_tree(root, files | {"proc/self/cgroup": f"0::{path}"})
    (root / SERVICE / "front").mkdir()
    return root


def test_this_process_moves_aside_and_memory_is_handed_down(tmp_path: Path) -> None:
    group = take_delegated_group(delegated(tmp_path))
    assert group is not None
    assert group.path == tmp_path / SERVICE
    assert (group.path / "front/cgroup.procs").read_text() == str(os.getpid())
    assert (group.path / "cgroup.subtree_control").read_text() == "+memory"


def test_a_process_that_has_moved_aside_already_finds_the_group_above(tmp_path: Path) -> None:
    group = take_delegated_group(delegated(tmp_path, "/system.slice/edge-asr.service/front"))
    assert group is not None
    assert group.path == tmp_path / SERVICE


@pytest.mark.parametrize("board", [raspberry_pi_5, rk3588, x86_server])
def test_where_nothing_is_delegated_nothing_happens(tmp_path: Path, board: object) -> None:
    """Memory switched off, a group that is not ours, control groups of version 1."""
    assert callable(board)
    assert take_delegated_group(board(tmp_path)) is None


def test_a_group_without_the_memory_controller_is_left_alone(tmp_path: Path) -> None:
    write_tree(delegated(tmp_path), {f"{SERVICE}/cgroup.controllers": "cpu pids"})
    assert take_delegated_group(tmp_path) is None


def test_a_worker_is_slowed_down_before_it_is_ended(tmp_path: Path) -> None:
    group = take_delegated_group(delegated(tmp_path))
    assert group is not None
    worker = group.add("worker-0")
    assert worker is not None
    worker.limit(100 << 20, 120 << 20)
    written = {name: (worker.path / name).read_text() for name in ("memory.high", "memory.max", "memory.oom.group")}
    assert written == {"memory.high": "104857600", "memory.max": "125829120", "memory.oom.group": "1"}


def test_kills_are_read_from_the_groups_events(tmp_path: Path) -> None:
    write_tree(tmp_path, {"memory.events": "low 0\nhigh 12\nmax 3\noom 1\noom_kill 2\noom_group_kill 1"})
    assert WorkerGroup(tmp_path).oom_kills == 2
    assert WorkerGroup(tmp_path / "gone").oom_kills == 0


def test_a_limit_that_the_kernel_refuses_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    WorkerGroup(tmp_path / "gone").limit(1, 2)
    assert "the memory of gone cannot be limited (memory.high): No such file or directory" in caplog.text
