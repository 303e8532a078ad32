"""Bars and partials belong on a terminal."""

from __future__ import annotations

import sys

import pytest

from edge_asr.cli.recording_progress import PartialLine, recording_bar


def on_terminal(monkeypatch: pytest.MonkeyPatch, columns: int = 80) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")


def test_no_bar_where_nobody_sees_it(capsys) -> None:
    with recording_bar(2, is_wanted=True) as show:
        show("a.wav", 1.5)

    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal_goes_to_standard_error(capsys, monkeypatch) -> None:
    on_terminal(monkeypatch)
    with recording_bar(2, is_wanted=True) as show:
        show("a.wav", 1.0)

    printed = capsys.readouterr()
    assert printed.out == ""
    assert "a.wav" in printed.err


def test_no_bar_where_it_is_not_wanted(capsys, monkeypatch) -> None:
    on_terminal(monkeypatch)
    with recording_bar(2, is_wanted=False) as show:
        show("a.wav", 1.0)

    assert capsys.readouterr().err == ""


def test_partials_elsewhere_are_lines(capsys) -> None:
    line = PartialLine()
    line.show("go")
    line.clear()

    assert capsys.readouterr().err == "partial: go\n"


def test_a_partial_on_a_terminal_replaces_the_one_before_and_shows_its_end(capsys, monkeypatch) -> None:
    on_terminal(monkeypatch, columns=11)
    line = PartialLine()
    line.show("go forward ten")
    line.clear()
    line.clear()

    assert capsys.readouterr().err == "\r\x1b[K\x1b[2morward ten\x1b[0m\r\x1b[K"
