"""What commands say beside their results, on standard error; one form everywhere."""

from __future__ import annotations

import click


def complain(sentence: str) -> None:
    """Something failed; one line, or one per line of the sentence."""
    _say("error", sentence)


def warn(sentence: str) -> None:
    """Something is not as it should be and was done all the same."""
    _say("warning", sentence)


def remark(sentence: str) -> None:
    """Something the user should know."""
    _say("note", sentence)


def _say(kind: str, sentence: str) -> None:
    for line in sentence.splitlines():
        click.echo(f"edge-asr: {kind}: {line}", err=True)
