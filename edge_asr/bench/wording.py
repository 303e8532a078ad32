"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """``1 board``, ``2 boards``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
