"""The unit files are such that systemd understands them, and what they name exists in the daemon."""

from __future__ import annotations

import os
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
USER_UNIT = FOLDER / "user" / "edge-asr.service"
DROP_INS = sorted((FOLDER / "drop-ins").glob("*.conf"))
MAX_EXPOSURE = 2.5
"""Of ten, in ``systemd-analyze security``."""
SOCKETS = sorted(FOLDER.glob("*.socket"))


def section(unit: Path, name: str) -> dict[str, str]:
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(unit)
    return dict(parser[name])


def service() -> dict[str, str]:
    return section(UNIT, "Service")


def analyze(*words: str, runtime_directory: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({"XDG_RUNTIME_DIR": str(runtime_directory)} if runtime_directory else {})
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, env=environment)


def verify_runnable(unit: Path, folder: Path, *options: str) -> str:
    """What systemd complains about when the program is one that this machine has."""
    installed = folder / unit.name
    installed.write_text(unit.read_text().replace(service()["ExecStart"], "/bin/true"))
    units = sorted(str(path) for path in folder.iterdir() if path.is_file())
    ran = analyze("verify", *options, *units, runtime_directory=folder)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


def install_drop_in(words: str, folder: Path) -> None:
    drop_ins = folder / f"{UNIT.name}.d"
    drop_ins.mkdir()
    (drop_ins / "wish.conf").write_text(words)


needs_systemd_analyze = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed"
)


@pytest.mark.parametrize("unit", [UNIT, USER_UNIT], ids=["system", "user"])
def test_it_starts_the_daemon_by_a_command_that_exists(unit: Path) -> None:
    program, *words = section(unit, "Service")["ExecStart"].split()
    assert Path(program).name == "edge-asr"
    assert CliRunner().invoke(cli, [*words, "--help"]).exit_code == 0


def test_the_user_unit_ends_and_restarts_like_the_system_s() -> None:
    user, shared = section(USER_UNIT, "Service"), service()
    for name in ("Type", "Restart", "RestartPreventExitStatus", "TimeoutStartSec", "WatchdogSec", "OOMPolicy"):
        assert user[name] == shared[name], name


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


@needs_systemd_analyze
def test_systemd_finds_nothing_to_complain_about(tmp_path: Path) -> None:
    for unit in SOCKETS:
        shutil.copy(unit, tmp_path)
    assert verify_runnable(UNIT, tmp_path) == ""


@needs_systemd_analyze
def test_systemd_finds_nothing_to_complain_about_in_the_user_unit(tmp_path: Path) -> None:
    assert verify_runnable(USER_UNIT, tmp_path, "--user") == ""


@needs_systemd_analyze
@pytest.mark.parametrize("drop_in", DROP_INS, ids=[path.stem for path in DROP_INS])
def test_systemd_finds_nothing_to_complain_about_in_a_drop_in(drop_in: Path, tmp_path: Path) -> None:
    words = drop_in.read_text().replace(service()["ExecStart"].split()[0], "/bin/true")
    install_drop_in(words, tmp_path)
    assert verify_runnable(UNIT, tmp_path) == ""


@needs_systemd_analyze
def test_a_wrong_drop_in_would_be_complained_about(tmp_path: Path) -> None:
    install_drop_in("[Service]\nAllowedCPU=1-3\n", tmp_path)
    assert "AllowedCPU" in verify_runnable(UNIT, tmp_path)


@needs_systemd_analyze
def test_the_service_is_exposed_no_more_than_we_say() -> None:
    ran = analyze("security", "--offline=true", "--no-pager", f"--threshold={MAX_EXPOSURE * 10:.0f}", str(UNIT))
    assert ran.returncode == 0, ran.stdout.splitlines()[-1]
