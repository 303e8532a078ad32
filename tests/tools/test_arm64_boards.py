from __future__ import annotations

import pytest

from tools.arm64_boards import BOARDS


def features(cpu: str) -> set[str]:
    line = next(line for line in BOARDS[cpu].cpuinfo().splitlines() if line.startswith("Features"))
    return set(line.partition(":")[2].split())


@pytest.mark.parametrize(("cpu", "part"), [("cortex-a53", "0xd03"), ("cortex-a72", "0xd08"), ("cortex-a76", "0xd0b")])
def test_all_four_cores_are_of_the_kind_asked_for(cpu, part):
    lines = BOARDS[cpu].cpuinfo().splitlines()
    assert lines.count(f"CPU part\t: {part}") == 4
    assert [line for line in lines if line.startswith("processor")] == [f"processor\t: {core}" for core in range(4)]


def test_only_the_raspberry_pi_5_has_the_dot_product():
    assert [cpu for cpu in BOARDS if "asimddp" in features(cpu)] == ["cortex-a76"]


def test_the_board_says_its_model_last():
    assert BOARDS["cortex-a72"].cpuinfo().endswith("\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n")
