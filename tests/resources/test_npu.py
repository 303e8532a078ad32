from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.resources.npu import read_npu_driver, read_npu_loads, read_rknn_runtime
from tests.boards import rk3588, write_tree

NODE = "sys/kernel/debug/rknpu"


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        ("NPU load:  Core0: 82%, Core1:  7%, Core2:  0%,", {"0": 0.82, "1": 0.07, "2": 0.0}),
        ("NPU load:  12%", {"0": 0.12}),
        ("", {}),
    ],
)
def test_the_drivers_load_is_read_by_core(load, expected, tmp_path: Path):
    write_tree(rk3588(tmp_path), {f"{NODE}/load": load})
    assert read_npu_loads(tmp_path) == expected


def test_without_debugfs_the_load_is_that_of_the_clock_governor(tmp_path: Path):
    write_tree(rk3588(tmp_path), {"sys/class/devfreq/fdab0000.npu/load": "37@1000000000Hz"})
    assert read_npu_loads(tmp_path) == {"fdab0000.npu": 0.37}


def test_a_board_that_says_nothing_has_no_load_and_no_driver(tmp_path: Path):
    rk3588(tmp_path)
    assert (read_npu_loads(tmp_path), read_npu_driver(tmp_path)) == ({}, "")


def test_the_drivers_version_is_read(tmp_path: Path):
    write_tree(rk3588(tmp_path), {f"{NODE}/version": "RKNPU driver: v0.9.8"})
    assert read_npu_driver(tmp_path) == "0.9.8"


def test_the_runtimes_version_stands_in_its_text(tmp_path: Path):
    library = tmp_path / "librknnrt.so"
    library.write_bytes(b"\x7fELF\0librknnrt version: 2.3.2 (429f97ae6b@2025-04-09T09:09:27)\0")
    assert read_rknn_runtime(library) == "2.3.2"
    library.write_bytes(b"")
    assert read_rknn_runtime(library) == ""
