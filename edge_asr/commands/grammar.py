"""What may be said, as an expression over words: values only, neither tokens nor files.

``Repeat(Alternatives((Word("one"), Word("two"))), at_least=1)`` is any string of ones and twos.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from edge_asr.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Word:
    """One word, as it is written in the model's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other; without parts: nothing, which is always said."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of the choices; without choices: what nobody can say."""

    choices: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The same expression again and again."""

    part: Expression
    at_least: int = 0
    at_most: int | None = None
    """No limit when absent."""

    def __post_init__(self) -> None:
        if self.at_least < 0 or (self.at_most is not None and self.at_most < max(1, self.at_least)):
            raise ConfigurationError(f"a part cannot be repeated {self.at_least} to {self.at_most} times")


@dataclass(frozen=True, slots=True)
class Weighted:
    """An expression that is taken less readily than its alternatives."""

    part: Expression
    cost: float
    """Natural logarithm of how much less, 0 or more; what the acoustic score of the path loses."""

    def __post_init__(self) -> None:
        if not 0 <= self.cost < math.inf:
            raise ConfigurationError(f"a part cannot have the cost {self.cost}; 0 or more is possible")


@dataclass(frozen=True, slots=True)
class AnySpeech:
    """Speech of any kind, spelled freely by the model's tokens: how a grammar says no."""


Expression = Word | Sequence | Alternatives | Repeat | Weighted | AnySpeech


def sentence(text: str) -> Expression:
    """The words of a line, in their order."""
    return Sequence(tuple(Word(word) for word in text.split()))


def sentences(lines: Iterable[str]) -> Expression:
    """One of the sentences; duplicates count once.

    Raises:
        ConfigurationError: There is none.
    """
    distinct = dict.fromkeys(" ".join(line.split()) for line in lines)
    distinct.pop("", None)
    if not distinct:
        raise ConfigurationError("the list of sentences is empty; write one sentence a line")
    return Alternatives(tuple(map(sentence, distinct)))


def word_loop(words: Iterable[str]) -> Expression:
    """Any string of the words.

    Raises:
        ConfigurationError: There is none.
    """
    distinct = dict.fromkeys(word for line in words for word in line.split())
    if not distinct:
        raise ConfigurationError("the word list is empty; write one word a line")
    return Repeat(Alternatives(tuple(map(Word, distinct))), at_least=1)


def or_any_speech(expression: Expression) -> Expression:
    """The expression, or else speech that is none of it."""
    return Alternatives((expression, AnySpeech()))
