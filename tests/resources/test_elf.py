from __future__ import annotations

import sys
from pathlib import Path

from edge_asr.resources.elf import Program, read_program
from tests.boards import raspberry_pi_5, write_tree
from tests.boards.raspberry_pi import raspberry_pi_4_with_32_bit_system


def test_a_32_bit_system_shows_in_its_own_interpreter(tmp_path):
    assert read_program(raspberry_pi_4_with_32_bit_system(tmp_path) / "proc/self/exe") == Program(32, "arm")


def test_a_64_bit_program_of_a_raspberry_pi(tmp_path):
    assert read_program(raspberry_pi_5(tmp_path) / "proc/self/exe") == Program(64, "aarch64")


def test_a_script_and_a_missing_file_are_no_program(tmp_path):
    write_tree(tmp_path, {"script": "#!/bin/sh\nexit 0 # long enough to hold a header"})
    assert read_program(tmp_path / "script") is None
    assert read_program(tmp_path / "nothing") is None


def test_this_interpreter_is_as_wide_as_its_pointers():
    program = read_program(Path(sys.executable))
    assert program is not None
    assert program.bits == (64 if sys.maxsize > 2**32 else 32)
