"""The unit files are such that systemd understands them, and what they name exists in the daemon."""

from __future__ import annotations

import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from edge_asr.cli import exit_codes
from edge_asr.cli.main import cli
from edge_asr.servers.access import DOORS

FOLDER = Path(__file__).resolve().parent.parent / "packaging" / "systemd"
UNIT = FOLDER / "edge-asr.service"
SOCKETS = sorted(FOLDER.glob("*.socket"))


def section(unit: Path, name: str) -> dict[str, str]:
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(unit)
    return dict(parser[name])


def service() -> dict[str, str]:
    return section(UNIT, "Service")


def test_it_starts_the_daemon_by_a_command_that_exists() -> None:
    program, *words = service()["ExecStart"].split()
    assert Path(program).name == "edge-asr"
    assert CliRunner().invoke(cli, [*words, "--help"]).exit_code == 0


def test_what_does_not_get_better_is_not_restarted() -> None:
    listed = service()["RestartPreventExitStatus"].split()
    assert {str(exit_codes.USAGE), str(exit_codes.MODEL), "SIGILL"} == set(listed)


def test_microphones_can_be_reached() -> None:
    unit = service()
    assert "PrivateDevices" not in unit
    assert (unit["DevicePolicy"], unit["DeviceAllow"], unit["SupplementaryGroups"]) == (
        "closed",
        "char-alsa rw",
        "audio",
    )


def test_each_socket_is_for_a_door_of_the_daemon() -> None:
    names = [section(unit, "Socket")["FileDescriptorName"] for unit in SOCKETS]
    assert names
    assert set(names) <= {*DOORS, "admin"}


def test_sockets_listen_on_loopback_unless_somebody_changes_them() -> None:
    for unit in SOCKETS:
        listen = section(unit, "Socket")["ListenStream"]
        assert listen.startswith(("127.0.0.1:", "/run/edge-asr/"))


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_finds_nothing_to_complain_about(tmp_path: Path) -> None:
    installed = tmp_path / UNIT.name
    installed.write_text(UNIT.read_text().replace(service()["ExecStart"], "/bin/true"))
    for unit in SOCKETS:
        shutil.copy(unit, tmp_path)
    units = sorted(str(path) for path in tmp_path.iterdir())
    ran = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")
