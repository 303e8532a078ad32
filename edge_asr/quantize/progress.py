"""How a run of minutes to hours tells what it does."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Hears of stages one after the other."""

    def stage(self, title: str, total: int) -> None:
        """A stage begins, of so many steps."""

    def advance(self, done: int) -> None:
        """So many steps of the stage are done."""

    def say(self, sentence: str) -> None:
        """Something the user should know."""


class Silence:
    """Nobody watches."""

    def stage(self, title: str, total: int) -> None:
        """Nothing."""

    def advance(self, done: int) -> None:
        """Nothing."""

    def say(self, sentence: str) -> None:
        """Nothing."""
