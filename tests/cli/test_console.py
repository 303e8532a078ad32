"""Results that are drawn."""

from __future__ import annotations

import io

import pytest

from edge_asr.cli.console import ResultsConsole


class ClosedPipe(io.StringIO):
    def write(self, _text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


def test_a_reader_who_is_gone_is_left_to_the_top_of_the_program() -> None:
    with pytest.raises(BrokenPipeError):
        ResultsConsole(file=ClosedPipe()).print("a table")
