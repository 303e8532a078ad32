"""An automaton over tokens with free moves, drawn part by part between states (Thompson 1968)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from edge_asr.commands.grammar import Alternatives, AnySpeech, Expression, Repeat, Sequence, Weighted, Word
from edge_asr.errors import ConfigurationError

ANY_SPEECH = -1
"""The label that stands for speech of any kind."""

BACK_OFF = -3
"""The label of a move that takes nothing, from behind one word to where any word may follow."""

MOST_ARCS = 1_000_000
"""Largest automaton that is built, counted at each step."""

Spell = Callable[[str], tuple[int, ...]]


class Label(NamedTuple):
    """What an arc takes, and what taking it costs."""

    token: int
    cost: float = 0.0


END = Label(-2)
"""A sentence may end here."""


@dataclass(slots=True)
class Drawing:
    """An automaton with free moves, drawn part by part between two states."""

    spell: Spell
    word_cost: float
    arcs: list[list[tuple[Label, int]]] = field(default_factory=list)
    free: list[list[tuple[float, int]]] = field(default_factory=list)
    size: int = 0

    def new_state(self) -> int:
        """A state without arcs."""
        self.arcs.append([])
        self.free.append([])
        return bounded(len(self.arcs)) - 1

    def add(self, source: int, label: Label, target: int) -> None:
        """An arc that takes a token."""
        self.size = bounded(self.size + 1)
        self.arcs[source].append((label, target))

    def add_free(self, source: int, target: int, cost: float = 0.0) -> None:
        """A move that takes nothing and vanishes when the automaton is made deterministic."""
        self.size = bounded(self.size + 1)
        self.free[source].append((cost, target))

    def draw(self, expression: Expression, source: int, target: int) -> None:
        """All ways to say an expression.

        Raises:
            ConfigurationError: A word cannot be spelled, or the drawing grows beyond ``MOST_ARCS``.
        """
        match expression:
            case Word(text):
                self._draw_word(text, source, target)
            case Sequence(parts):
                self._draw_sequence(parts, source, target)
            case Alternatives(choices):
                for choice in choices:
                    self.draw(choice, source, target)
            case Repeat(part, at_least, at_most):
                self._draw_repeat(part, at_least, at_most, source, target)
            case Weighted(part, cost):
                begin = self.new_state()
                self.add_free(source, begin, cost)
                self.draw(part, begin, target)
            case AnySpeech():
                self.add(source, Label(ANY_SPEECH), target)

    def _draw_word(self, text: str, source: int, target: int) -> None:
        *first, last = self.spell(text)
        cost = self.word_cost
        for token in first:
            after = self.new_state()
            self.add(source, Label(token, cost), after)
            source, cost = after, 0.0
        self.add(source, Label(last, cost), target)

    def _draw_sequence(self, parts: tuple[Expression, ...], source: int, target: int) -> None:
        if not parts:
            self.add_free(source, target)
        for number, part in enumerate(parts, 1):
            after = target if number == len(parts) else self.new_state()
            self.draw(part, source, after)
            source = after

    def _draw_repeat(self, part: Expression, at_least: int, at_most: int | None, source: int, target: int) -> None:
        for _ in range(at_least):
            after = self.new_state()
            self.draw(part, source, after)
            source = after
        if at_most is None:
            loop = self.new_state()
            self.add_free(source, loop)
            self.draw(part, loop, loop)
            source = loop
        for _ in range((at_most or 0) - at_least):
            after = self.new_state()
            self.add_free(source, target)
            self.draw(part, source, after)
            source = after
        self.add_free(source, target)


def bounded(size: int) -> int:
    """The size, if it is not beyond ``MOST_ARCS``.

    Raises:
        ConfigurationError: It is.
    """
    if size > MOST_ARCS:
        raise ConfigurationError(
            f"the grammar needs more than {MOST_ARCS} states or arcs; split it, or let parts repeat fewer times"
        )
    return size
