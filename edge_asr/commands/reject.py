"""Whether a command was spoken, or something else that was bent into one.

A constraint always finds a sentence. Three things tell how far it had to go for it: how much likelier the model finds
what it would have written freely (the gap), how hard the hardest token was to write (an end that comes too early is
one), and how much was said. A logistic regression over them gives the score; ``docs/commands.md`` has the curve of what
each threshold lets through. The hardest token counts the less the more was said: a single one is all there is of "Hi",
which "five" on a telephone resembles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from edge_asr.commands.folding import FREE_MARKS
from edge_asr.engines.base import ConstrainedPath


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about a sentence that a constraint has found; marks between words do not count as tokens."""

    gap: float
    """Nats per token by which the free text is likelier, 0 or more."""
    surprise: float
    """Nats that the least likely token costs, the end of the text being one."""
    tokens: int


@dataclass(frozen=True, slots=True)
class Weights:
    """Of the logistic regression; ``tools/commands_accuracy.py curve`` fits them."""

    bias: float = 0.0
    gap: float = -4.5
    surprise: float = -3.0
    """Of the surprise by the number of tokens."""
    length: float = 4.0
    """Of the logarithm of the number of tokens."""


def evidence_of(path: ConstrainedPath) -> Evidence:
    """What a path tells."""
    words = [token for token in path.tokens if not FREE_MARKS.issuperset(token.text.strip())]
    log_probs = [token.log_prob or 0.0 for token in path.tokens]
    end_log_prob = path.log_prob - sum(log_probs)
    gap = max(0.0, path.open_log_prob - path.log_prob) / (len(words) + 1)
    return Evidence(gap, -min(*log_probs, end_log_prob), len(words))


@dataclass(frozen=True, slots=True)
class MatchWeights:
    """Of how near a sentence is to a text; ``tools/matching_accuracy.py`` prints what they let through."""

    bias: float = 2.0
    distance: float = -22.0
    """Of the share of the letters that differ."""
    length: float = 1.5
    """Of the logarithm of the number of letters."""


def score_of_match(distance: float, letters: int, weights: MatchWeights | None = None) -> float:
    """How sure it is, 0 to 1, that a sentence was spoken from which this share of so many letters differs."""
    weights = weights or MatchWeights()
    total = weights.bias + weights.distance * distance + weights.length * math.log1p(letters)
    return _logistic(total)


def score(evidence: Evidence, weights: Weights | None = None) -> float:
    """How sure it is that the sentence was spoken, 0 to 1."""
    weights = weights or Weights()
    total = weights.bias + weights.gap * evidence.gap
    total += weights.surprise * evidence.surprise / max(1, evidence.tokens)
    total += weights.length * math.log1p(evidence.tokens)
    return _logistic(total)


def _logistic(total: float) -> float:
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))
