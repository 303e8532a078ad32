"""The Ansible role, run against this machine in a folder of its own: what it does, and that it does it once."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "packaging" / "ansible"
PLAYBOOK = shutil.which("ansible-playbook", path=str(Path(sys.executable).parent)) or shutil.which("ansible-playbook")

pytestmark = [
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.skipif(PLAYBOOK is None, reason="ansible-core is not installed"),
]


class Board:
    """This machine as a board, whose configuration and models lie in ``home``."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir()
        command = home / "edge-asr"
        command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m edge_asr "$@"\n')
        command.chmod(0o755)
        shutil.copytree(ROOT / "models" / "starter-en", home / "counter-2026.12")
        self.variables: dict[str, Any] = {
            "edge_asr_command": str(command),
            "edge_asr_environment": {"EDGE_ASR_HOME": str(home / "store"), "EDGE_ASR_SERVER_ADMIN_SOCKET": "off"},
            "edge_asr_directory": str(home / "etc"),
            "edge_asr_owner": str(os.geteuid()),
            "edge_asr_group": str(os.getegid()),
            "edge_asr_service": "",
            "edge_asr_token": "0123456789abcdef",
            "edge_asr_settings": {"model": "", "server": {"allow": ["10.0.0.0/8"]}, "limits": {"max_sessions": 4}},
            "edge_asr_models": [{"name": "counter-2026.12", "source": str(home / "counter-2026.12"), "language": "en"}],
            "edge_asr_model": "counter-2026.12",
        }

    def play(self, **changes: Any) -> subprocess.CompletedProcess[str]:
        play = [
            {
                "hosts": "localhost",
                "connection": "local",
                "gather_facts": False,
                "vars": {"ansible_python_interpreter": sys.executable} | self.variables | changes,
                "roles": ["edge_asr"],
            }
        ]
        (self.home / "play.yml").write_text(yaml.safe_dump(play))
        environment = {"ANSIBLE_ROLES_PATH": str(FOLDER / "roles"), "ANSIBLE_NOCOLOR": "1"}
        environment |= {"ANSIBLE_HOME": str(self.home / "ansible"), "LC_ALL": "C.UTF-8"}
        assert PLAYBOOK is not None
        return subprocess.run(
            [PLAYBOOK, "-i", "localhost,", str(self.home / "play.yml")],
            env=os.environ | environment,
            capture_output=True,
            text=True,
        )

    def active(self) -> str:
        active: str = json.loads((self.home / "store" / "active.json").read_text())["active"]
        return active


@pytest.fixture
def board(tmp_path: Path) -> Board:
    return Board(tmp_path / "board")


def changed(ran: subprocess.CompletedProcess[str]) -> int:
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = re.search(r"changed=(\d+)", ran.stdout)
    assert found is not None
    return int(found[1])


def test_it_sets_a_board_up_and_changes_nothing_the_second_time(board) -> None:
    assert changed(board.play()) > 0

    written = tomllib.loads((board.home / "etc" / "edge-asr.toml").read_text())
    assert written == {"model": "", "server": {"allow": ["10.0.0.0/8"]}, "limits": {"max_sessions": 4}}
    token = board.home / "etc" / "token"
    assert (token.read_text(), stat.S_IMODE(token.stat().st_mode)) == ("0123456789abcdef\n", 0o640)
    assert board.active() == "counter-2026.12"

    assert changed(board.play()) == 0


def test_a_wrong_setting_is_refused_and_the_old_file_stays(board) -> None:
    first = board.play(edge_asr_models=[], edge_asr_model="")
    assert changed(first) > 0
    before = (board.home / "etc" / "edge-asr.toml").read_text()

    refused = board.play(edge_asr_settings={"limits": {"max_session": 4}}, edge_asr_models=[], edge_asr_model="")

    assert refused.returncode != 0
    assert "did you mean" in refused.stdout
    assert (board.home / "etc" / "edge-asr.toml").read_text() == before


def test_a_model_that_does_not_pass_its_trial_stops_the_play_and_the_one_before_stays(board) -> None:
    assert changed(board.play()) > 0
    damaged = board.home / "counter-2027.01"
    shutil.copytree(ROOT / "models" / "starter-en", damaged)
    tokens = (damaged / "tokens.txt").read_text().splitlines()
    # Right in form, and every word wrong.
    pieces = [line.rpartition(" ")[0] for line in tokens[:1] + tokens[:0:-1]]
    (damaged / "tokens.txt").write_text("".join(f"{piece} {number}\n" for number, piece in enumerate(pieces)))
    (damaged / "manifest.toml").unlink()

    models = [
        *board.variables["edge_asr_models"],
        {"name": "counter-2027.01", "source": str(damaged), "language": "en"},
    ]
    refused = board.play(edge_asr_models=models, edge_asr_model="counter-2027.01")

    assert refused.returncode != 0
    assert board.active() == "counter-2026.12"


def test_no_secret_is_printed(board) -> None:
    assert "0123456789abcdef" not in board.play(edge_asr_models=[], edge_asr_model="").stdout


@pytest.mark.parametrize("name", ["site.yml", "inventory.yml"])
def test_the_examples_are_read_by_ansible(name, tmp_path) -> None:
    program = str(PLAYBOOK) if name == "site.yml" else str(PLAYBOOK).removesuffix("-playbook") + "-inventory"
    words = ["--syntax-check", "-i", str(FOLDER / "inventory.yml"), str(FOLDER / "site.yml")]
    words = words if name == "site.yml" else ["-i", str(FOLDER / "inventory.yml"), "--list"]
    environment = os.environ | {"ANSIBLE_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    ran = subprocess.run([program, *words], env=environment, cwd=FOLDER, capture_output=True, text=True)

    assert ran.returncode == 0, ran.stderr
    assert "WARNING" not in ran.stderr
