"""The search against one that tries every text."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.engines.base import Following, OpenEnded
from edge_asr.engines.beam import IntArray, SearchOptions, search

BEGIN, END, A, B, C = range(5)
OPTIONS = SearchOptions(BEGIN, END, width=3, most_tokens=6)


class Bigrams:
    """A decoder whose scores depend on the last token only; it checks that rows go on where they should."""

    def __init__(self, seed: int) -> None:
        self.scores = np.random.default_rng(seed).normal(0, 2, (5, 5)).astype(np.float32)
        self.scores[:, BEGIN] = -50
        self.steps = 0
        self._rows: list[tuple[int, ...]] = [()]

    def step(self, parents: IntArray, tokens: IntArray) -> Float32Array:
        self.steps += 1
        self._rows = [(*self._rows[parent], int(token)) for parent, token in zip(parents, tokens, strict=True)]
        scores: Float32Array = self.scores[tokens]
        return scores

    def log_prob(self, tokens: tuple[int, ...]) -> float:
        table = self.scores - np.log(np.exp(self.scores).sum(axis=1, keepdims=True))
        return float(sum(table[before, after] for before, after in itertools.pairwise((BEGIN, *tokens, END))))


class OneOf:
    """A constraint to given texts; a state is what was said."""

    def __init__(self, *texts: tuple[int, ...]) -> None:
        self._texts = texts
        self._said: list[tuple[int, ...]] = [()]

    def begin(self) -> int:
        return 0

    def following(self, state: int) -> Following:
        said = self._said[state]
        tokens = sorted(
            {text[len(said)] for text in self._texts if len(text) > len(said) and text[: len(said)] == said}
        )
        states = [self._number((*said, token)) for token in tokens]
        return Following(np.array(tokens, np.int64), np.array(states, np.int64))

    def may_end(self, state: int) -> bool:
        return self._said[state] in self._texts

    def _number(self, said: tuple[int, ...]) -> int:
        if said not in self._said:
            self._said.append(said)
        return self._said.index(said)


@pytest.mark.parametrize("seed", range(20))
def test_the_likeliest_text_is_found_when_the_beam_holds_all(seed):
    texts = [(A,), (A, B), (B, B, C), (C, A, C, A), (B,)]
    scorer = Bigrams(seed)
    best = search(scorer, OneOf(*texts), SearchOptions(BEGIN, END, width=5, most_tokens=6)).best
    assert best is not None
    likeliest = max(texts, key=scorer.log_prob)
    assert best.tokens == likeliest
    assert best.log_prob == pytest.approx(scorer.log_prob(likeliest), abs=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_the_free_text_is_greedy_whatever_the_constraint(seed):
    scorer = Bigrams(seed)
    expected: list[int] = []
    while len(expected) < OPTIONS.most_tokens:
        token = int(scorer.scores[expected[-1] if expected else BEGIN].argmax())
        if token == END:
            break
        expected.append(token)
    assert search(scorer, OneOf((A, B)), OPTIONS).free.tokens == tuple(expected)
    assert search(Bigrams(seed), None, OPTIONS).free.tokens == tuple(expected)


def test_without_a_constraint_there_is_only_the_free_text():
    assert search(Bigrams(0), None, OPTIONS).best is None


def test_a_text_that_is_longer_than_allowed_is_not_found():
    options = SearchOptions(BEGIN, END, width=3, most_tokens=2)
    assert search(Bigrams(0), OneOf((A, B, C)), options).best is None


def test_an_open_ended_constraint_lets_a_text_end_anywhere():
    scorer = Bigrams(3)
    best = search(scorer, OpenEnded(OneOf((A, B, C))), OPTIONS).best
    assert best is not None
    assert best.tokens == max([(A,), (A, B), (A, B, C)], key=scorer.log_prob)


def test_nothing_is_no_text():
    best = search(Bigrams(0), OneOf((), (A, A)), OPTIONS).best
    assert best is not None
    assert best.tokens == (A, A)


def test_the_search_ends_when_nothing_can_become_better():
    scorer = Bigrams(0)
    scorer.scores[:, END] = 30
    search(scorer, OneOf((A,), (A, B, C, A, B)), OPTIONS)
    assert scorer.steps == 2
