from __future__ import annotations

from pathlib import Path

from tools.debian_root import DebianRoot


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
