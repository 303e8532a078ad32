"""The unit file is one that systemd understands, and starts a command that exists."""

from __future__ import annotations

import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from edge_asr.cli import exit_codes
from edge_asr.cli.main import cli

UNIT = Path(__file__).resolve().parent.parent / "packaging" / "systemd" / "edge-asr.service"


def service() -> dict[str, str]:
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNIT)
    return dict(parser["Service"])


def test_it_starts_the_daemon_by_a_command_that_exists() -> None:
    program, *words = service()["ExecStart"].split()
    assert Path(program).name == "edge-asr"
    assert CliRunner().invoke(cli, [*words, "--help"]).exit_code == 0


def test_what_does_not_get_better_is_not_restarted() -> None:
    listed = service()["RestartPreventExitStatus"].split()
    assert {str(exit_codes.USAGE), str(exit_codes.MODEL), "SIGILL"} == set(listed)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_finds_nothing_to_complain_about(tmp_path: Path) -> None:
    installed = tmp_path / UNIT.name
    installed.write_text(UNIT.read_text().replace(service()["ExecStart"], "/bin/true"))
    ran = subprocess.run(["systemd-analyze", "verify", str(installed)], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")
