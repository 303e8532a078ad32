from __future__ import annotations

from pathlib import Path

import pytest

from tools.peers_bench.processes import MachineUse, foreign_share, peak_memory_bytes


def test_what_is_neither_idle_nor_ours_is_foreign() -> None:
    before = MachineUse(at_s=10.0, busy_s=100.0, stolen_s=5.0, ours_s=1.0)
    after = MachineUse(at_s=20.0, busy_s=112.0, stolen_s=6.0, ours_s=4.0)
    assert foreign_share(before, after, cores=2) == pytest.approx((12 + 1 - 3) / 20)


def test_the_ticks_of_the_kernel_never_make_it_negative() -> None:
    before, after = MachineUse(0.0, 0.0, 0.0, 0.0), MachineUse(1.0, 0.5, 0.0, 0.51)
    assert foreign_share(before, after, cores=2) == 0.0


def process(root: Path, pid: int, parent: int, peak_kib: int) -> None:
    folder = root / "proc" / str(pid)
    folder.mkdir(parents=True)
    (folder / "stat").write_text(f"{pid} (a b) S {parent} " + " ".join("0" for _ in range(48)))
    (folder / "status").write_text(f"Name:\ta b\nVmHWM:\t{peak_kib} kB\nVmRSS:\t{peak_kib} kB\n")


def test_the_peaks_of_a_tree_add_up(tmp_path: Path) -> None:
    process(tmp_path, 10, 1, 100)
    process(tmp_path, 11, 10, 20)
    process(tmp_path, 12, 1, 4000)
    assert peak_memory_bytes(10, tmp_path) == 120 << 10
