"""Beam search under a constraint, with the free decode beside it: numbers in, paths out; no model, no audio.

The model scores one batch of rows a step: first the free text, greedily, then every path under the constraint. A path
that may end competes with those that go on by the probability of the whole text; since that only falls with length,
the search is over when the best that ended is better than all that have not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from edge_asr.audio import Float32Array
from edge_asr.engines.base import TokenConstraint

IntArray = npt.NDArray[np.int64]


MARGIN = 10.0
"""Nats by which a path may be less likely than the best one, before it is given up: every row costs the model time."""

SPARE = 4
"""So many times as many paths are looked at: those that are in the same state as a better one, as with and without a
comma, are left out."""


class StepScorer(Protocol):
    """A decoder with a cache of its rows."""

    def step(self, parents: IntArray, tokens: IntArray) -> Float32Array:
        """The scores of what comes next.

        Args:
            parents: For each new row, the row of the last step it continues; shape (rows,).
            tokens: What it continues with; shape (rows,).

        Returns:
            Logits, shape (rows, vocabulary); they may be overwritten.
        """
        ...


@dataclass(frozen=True, slots=True)
class Path:
    """A text as tokens."""

    tokens: tuple[int, ...]
    log_probs: tuple[float, ...]
    """Of each token."""
    end_log_prob: float
    """Of its end; 0 where it was cut off."""
    state: int
    """Of the constraint."""

    @property
    def log_prob(self) -> float:
        """Of the whole text."""
        return sum(self.log_probs) + self.end_log_prob


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How a search goes."""

    begin: int
    """The token before every text."""
    end: int
    """The token behind it."""
    width: int
    """Paths under the constraint that are followed."""
    most_tokens: int
    """Longest text."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has found."""

    free: Path
    best: Path | None
    """The likeliest text under the constraint; ``None`` without one, or where nothing it allows was said."""


def search(scorer: StepScorer, constraint: TokenConstraint | None, options: SearchOptions) -> Found:
    """Find the free text and the likeliest that the constraint allows."""
    state = _Search(constraint, options)
    parents, tokens = state.first_rows()
    while len(tokens):
        scores = log_softmax(scorer.step(parents, tokens))
        parents, tokens = state.advance(scores)
    return Found(state.free, state.best)


@dataclass(slots=True)
class _Search:
    constraint: TokenConstraint | None
    options: SearchOptions
    free: Path = field(init=False)
    best: Path | None = None
    _is_free_open: bool = True
    _live: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.free = Path((), (), 0.0, 0)

    def first_rows(self) -> tuple[IntArray, IntArray]:
        if self.constraint is not None:
            self._live = [Path((), (), 0.0, self.constraint.begin())]
        return self._rows([0] * (1 + len(self._live)), [self.options.begin] * (1 + len(self._live)))

    def advance(self, scores: Float32Array) -> tuple[IntArray, IntArray]:
        """Take the scores of the rows that were asked for; the next rows, none when the search is over."""
        parents, tokens = [], []
        first = int(self._is_free_open)
        if self._is_free_open:
            self._advance_free(scores[0])
        if self._is_free_open:
            parents.append(0)
            tokens.append(self.free.tokens[-1])
        for row, path in self._advance_paths(scores[first:]):
            parents.append(row + first)
            tokens.append(path.tokens[-1])
        return self._rows(parents, tokens)

    @staticmethod
    def _rows(parents: list[int], tokens: list[int]) -> tuple[IntArray, IntArray]:
        return np.array(parents, np.int64), np.array(tokens, np.int64)

    def _advance_free(self, scores: Float32Array) -> None:
        token = int(scores.argmax())
        if token == self.options.end:
            self.free = _ended(self.free, float(scores[token]))
        else:
            self.free = _longer(self.free, token, float(scores[token]), 0)
        self._is_free_open = token != self.options.end and len(self.free.tokens) < self.options.most_tokens

    def _advance_paths(self, scores: Float32Array) -> list[tuple[int, Path]]:
        if not self._live or self.constraint is None:
            return []
        ways = []
        for path, row in zip(self._live, scores, strict=True):
            if path.tokens and self.constraint.may_end(path.state):
                self._offer(_ended(path, float(row[self.options.end])))
            following = self.constraint.following(path.state)
            ways.append((following, path.log_prob + row[following.tokens]))
        chosen = _best_of([way[1] for way in ways], SPARE * self.options.width)
        last, self._live = self._live, []
        rows = []
        least = self.best.log_prob if self.best else -math.inf
        known: set[int] = set()
        for row, place in chosen:
            token, state = int(ways[row][0].tokens[place]), int(ways[row][0].states[place])
            path = _longer(last[row], token, float(scores[row][token]), state)
            least = max(least, path.log_prob - MARGIN)
            if len(path.tokens) >= self.options.most_tokens or path.log_prob < least or state in known:
                continue
            known.add(state)
            self._live.append(path)
            rows.append(row)
            if len(rows) == self.options.width:
                break
        return list(zip(rows, self._live, strict=True))

    def _offer(self, path: Path) -> None:
        if self.best is None or path.log_prob > self.best.log_prob:
            self.best = path


def _longer(path: Path, token: int, log_prob: float, state: int) -> Path:
    return Path((*path.tokens, token), (*path.log_probs, log_prob), 0.0, state)


def _ended(path: Path, log_prob: float) -> Path:
    return Path(path.tokens, path.log_probs, log_prob, path.state)


def _best_of(scores: list[Float32Array], count: int) -> list[tuple[int, int]]:
    """The row and the place in it of the best scores of all rows, the best first."""
    if not scores:
        return []
    together = np.concatenate(scores)
    is_many = len(together) > count
    places = np.argpartition(-together, count)[:count] if is_many else np.arange(len(together))
    places = places[np.argsort(-together[places], kind="stable")]
    begins = np.cumsum([0, *map(len, scores)])
    rows = np.searchsorted(begins, places, side="right") - 1
    return [(int(row), int(place - begins[row])) for row, place in zip(rows, places, strict=True)]


def log_softmax(logits: Float32Array) -> Float32Array:
    """Logarithms of probabilities, in place of the logits; shape (rows, vocabulary)."""
    logits -= logits.max(axis=1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logits
