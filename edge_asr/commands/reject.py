"""Whether a command was spoken, or something else that was bent into one.

A constraint always finds a sentence. Three things tell how far it had to go for it: how much likelier the model finds
what it would have written freely (the gap), how likely it finds the sentence at all, and how much of it there is. A
logistic regression over them gives the score; ``docs/commands.md`` has the curve of what each threshold lets through.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from edge_asr.engines.base import ConstrainedPath


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about a sentence that a constraint has found."""

    gap: float
    """Nats per token by which the free text is likelier, 0 or more."""
    surprise: float
    """Nats per token that the sentence itself costs."""
    tokens: int


@dataclass(frozen=True, slots=True)
class Weights:
    """Of the logistic regression; ``tools/commands_accuracy.py fit`` prints them."""

    bias: float = 6.0
    gap: float = -12.0
    surprise: float = -3.0
    length: float = 0.5
    """Of the logarithm of the number of tokens."""


def evidence_of(path: ConstrainedPath) -> Evidence:
    """What a path tells."""
    tokens = len(path.tokens)
    steps = tokens + 1  # and its end
    return Evidence(max(0.0, path.open_log_prob - path.log_prob) / steps, -path.log_prob / steps, tokens)


def score(evidence: Evidence, weights: Weights | None = None) -> float:
    """How sure it is that the sentence was spoken, 0 to 1."""
    weights = weights or Weights()
    total = weights.bias + weights.gap * evidence.gap + weights.surprise * evidence.surprise
    total += weights.length * math.log(1 + evidence.tokens)
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))
