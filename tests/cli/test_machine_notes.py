from __future__ import annotations

import tomllib
from pathlib import Path

from edge_asr.cli.machine_notes import machine_notes
from tests.boards.raspberry_pi import raspberry_pi_4


def test_the_head_says_what_could_be_found_out(alone, tmp_path: Path) -> None:
    lines = machine_notes(raspberry_pi_4(tmp_path / "board")).splitlines()
    assert lines[1].startswith("#   Raspberry Pi 4")
    assert lines[1].endswith(": 4 × Cortex-A72")
    assert "#   model: starter-en is the active one" in lines
    (microphone,) = [line for line in lines if "microphone" in line]
    assert '([microphone] device = "' in microphone


def test_the_head_is_nothing_but_comments(alone, tmp_path: Path) -> None:
    assert tomllib.loads(machine_notes(raspberry_pi_4(tmp_path / "board"))) == {}


def test_a_machine_that_says_nothing_has_a_head_too(alone, tmp_path: Path) -> None:
    assert "#   microphones: none" in machine_notes(tmp_path).splitlines()
