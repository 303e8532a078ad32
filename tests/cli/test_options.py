"""What several commands share."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from edge_asr.cli.options import FiniteRange, write_named

SECONDS = FiniteRange(5, 100)


@pytest.mark.parametrize(("given", "number"), [("5", 5.0), ("99.5", 99.5), ("1e2", 100.0)])
def test_a_number_within_the_range_is_taken(given: str, number: float) -> None:
    assert SECONDS.convert(given, None, None) == number


@pytest.mark.parametrize("given", ["nan", "-nan", "inf", "4.9", "five"])
def test_anything_else_is_a_usage_error(given: str) -> None:
    with pytest.raises(click.BadParameter, match=given):
        SECONDS.convert(given, None, None)


def test_a_dash_is_standard_output_and_no_file_of_that_name(tmp_path: Path, monkeypatch, capsysbinary) -> None:
    monkeypatch.chdir(tmp_path)

    write_named(Path("-"), b"{}")
    write_named(Path("a.json"), b"[]")

    assert capsysbinary.readouterr().out == b"{}"
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.json", b"[]")]
