"""What a session listens for: one interface over every way to hear commands, and over not listening for any.

A session asks :meth:`Listening.understand` what to say of a hypothesis; the ways differ in what the engine was told
(``constraint``) and in what they make of its answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from edge_asr.commands.interpretation import interpret
from edge_asr.commands.network import Network
from edge_asr.commands.reject import evidence_of, score
from edge_asr.engines.base import ConstrainedPath, Hypothesis, TokenConstraint
from edge_asr.events import Command

REMEMBERED = 256
"""Sentences whose meaning is not looked up twice."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What is said of a hypothesis."""

    hypothesis: Hypothesis
    """With the text and the tokens that are shown."""
    command: Command | None = None
    open_text: str | None = None
    """What the model hears without regard to commands; ``None`` where nobody listens for them."""


class Listening(Protocol):
    """What to make of hypotheses."""

    @property
    def constraint(self) -> TokenConstraint | None:
        """What the engine is to be held to."""
        ...

    @property
    def phrases(self) -> Sequence[str]:
        """What the engine is to expect, as a session's hotwords."""
        ...

    def understand(self, hypothesis: Hypothesis) -> Heard:
        """The text to show, and the command in it; cheap when the hypothesis is the one before."""
        ...

    def conclude(self, heard: Heard) -> Heard:
        """The same of a segment that is over: what may take longer than a step."""
        ...


class OpenSpeech:
    """Nobody listens for commands."""

    constraint: TokenConstraint | None = None
    phrases: Sequence[str] = ()

    def understand(self, hypothesis: Hypothesis) -> Heard:
        """As it is."""
        return Heard(hypothesis)

    def conclude(self, heard: Heard) -> Heard:
        """As it is."""
        return heard


OPEN_SPEECH = OpenSpeech()


class ConstrainedListening:
    """The engine decodes under the constraint, and the evidence decides."""

    phrases: Sequence[str] = ()

    def __init__(self, network: Network, constraint: TokenConstraint, min_score: float) -> None:
        self.constraint: TokenConstraint | None = constraint
        self._min_score = min_score
        self._meaning = lru_cache(REMEMBERED)(lambda text: interpret(network, text))

    def understand(self, hypothesis: Hypothesis) -> Heard:
        """The sentence where it is believed, else the free text."""
        path = hypothesis.path
        if path is None or not path.tokens:
            return Heard(hypothesis, None, hypothesis.text)
        sureness = score(evidence_of(path))
        if sureness < self._min_score:
            return Heard(hypothesis, None, hypothesis.text)
        return Heard(_shown(hypothesis, path), self._command(path, sureness), hypothesis.text)

    def conclude(self, heard: Heard) -> Heard:
        """As it is."""
        return heard

    def _command(self, path: ConstrainedPath, sureness: float) -> Command | None:
        command = self._meaning(path.text)
        return scored(command, sureness) if command else None


class ExactListening:
    """The engine can write nothing but sentences (a decoding graph made of them): what it writes is one, or nothing."""

    constraint: TokenConstraint | None = None
    phrases: Sequence[str] = ()

    def __init__(self, network: Network) -> None:
        self._meaning = lru_cache(REMEMBERED)(lambda text: interpret(network, text))

    def understand(self, hypothesis: Hypothesis) -> Heard:
        """The sentence; there is no free text beside it."""
        return Heard(hypothesis, self._meaning(hypothesis.text) if hypothesis.text else None)

    def conclude(self, heard: Heard) -> Heard:
        """As it is."""
        return heard


def scored(command: Command, sureness: float) -> Command:
    """The command with how sure it is, 0 to 1."""
    return Command(command.intent, command.slots, round(sureness, 4))


def _shown(hypothesis: Hypothesis, path: ConstrainedPath) -> Hypothesis:
    return replace(hypothesis, text=path.text, tokens=path.tokens)
