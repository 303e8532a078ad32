from __future__ import annotations

from pathlib import Path

import pytest

from tools.debian_root import DebianRoot, why_not


def words_after(command: list[str], option: str) -> list[str]:
    return [command[place + 1] for place, word in enumerate(command) if word == option]


def test_commands_run_without_a_network_and_without_this_machine_s_environment(tmp_path: Path) -> None:
    command = DebianRoot(tmp_path / "root", "x86_64").command(["true"])
    assert {"--unshare-net", "--clearenv"} <= set(command)
    assert "HOME" not in words_after(command, "--setenv")
    assert command[-2:] == ["--", "true"]


def test_installing_has_this_machine_s_network(tmp_path: Path) -> None:
    command = DebianRoot(tmp_path / "root", "x86_64").command(["apt-get", "update"], has_network=True)
    assert "--unshare-net" not in command
    assert "/etc/resolv.conf" in command


def test_an_arm64_system_sees_the_processor_that_is_emulated(tmp_path: Path) -> None:
    root = DebianRoot(tmp_path / "root", "aarch64")
    command = root.command(["true"])
    assert "QEMU_CPU" in words_after(command, "--setenv")
    place = command.index("/proc/cpuinfo")
    assert "CPU part\t: 0xd08" in Path(command[place - 1]).read_text()


def test_who_is_not_root_makes_no_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "sudo" in why_not(tmp_path, 0)


def test_a_disk_that_is_too_small_is_said_before_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert "MiB free, and 1099511627776 MiB are needed" in why_not(tmp_path, 1 << 40)
