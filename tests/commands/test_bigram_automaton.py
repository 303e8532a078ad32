from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.commands.bigram import START, Bigram, estimate_bigram
from edge_asr.commands.bigram_automaton import bigram_automaton
from edge_asr.commands.graph import Costs, expand
from edge_asr.errors import ConfigurationError
from tests.commands.test_graph import BLANK, FRAMES, best_cost, collapsed

SPELLINGS = {"a": (1,), "ab": (1, 2), "ba": (2, 1), "bb": (2, 2)}
BIGRAMS = st.builds(
    lambda sentences, pairs: estimate_bigram(SPELLINGS, sentences, pairs=pairs),
    st.lists(st.lists(st.sampled_from(sorted(SPELLINGS)), min_size=1, max_size=4), min_size=1, max_size=6),
    st.integers(0, 6),
)
SCALE = 0.5


def ways(tokens: list[int]) -> Iterator[list[str]]:
    """All strings of words that are spelled so."""
    if not tokens:
        yield []
    for word, spelled in SPELLINGS.items():
        if tuple(tokens[: len(spelled)]) == spelled:
            yield from ([word, *rest] for rest in ways(tokens[len(spelled) :]))


def cost(bigram: Bigram, words: list[str]) -> float:
    """Of saying just that, by the model itself; behind each word it may back off although the pair is known."""
    total = 0.0
    for before, word in zip([START, *words], words, strict=False):
        alone = bigram.back_off[before] * bigram.single[word]
        total -= math.log(max(alone, bigram.following.get(before, {}).get(word, 0.0)))
    return SCALE * (total - math.log(bigram.end[words[-1]]))


@given(bigram=BIGRAMS, frames=FRAMES)
def test_a_path_costs_what_its_likeliest_words_do(bigram, frames):
    graph = expand(bigram_automaton(bigram, SPELLINGS.__getitem__, SCALE), BLANK, (1, 2), Costs(token=0.0))
    text = collapsed(frames)
    expected = min((cost(bigram, words) for words in ways(text)), default=None) if text else 0.0
    assert best_cost(graph, frames) == (None if expected is None else pytest.approx(expected, abs=1e-3))


def test_any_order_of_the_words_is_accepted():
    automaton = bigram_automaton(estimate_bigram(SPELLINGS, [["a"]]), SPELLINGS.__getitem__, SCALE)
    assert automaton.accepts([2, 1, 2, 2, 1])  # ba bb a
    assert not automaton.accepts([2, 1, 2])  # ba and half a word


def test_words_share_the_beginning_that_any_word_may_have():
    bigram = estimate_bigram(("ab", "abb"), [["ab"]], pairs=0)
    automaton = bigram_automaton(bigram, {"ab": (1, 2), "abb": (1, 2, 2)}.__getitem__, SCALE)
    (anywhere,) = automaton.arcs[0].values()  # nothing is likelier at the start: back off
    assert [label.token for label in automaton.arcs[anywhere]] == [1]


@pytest.mark.parametrize("scale", [-0.1, 10.1, float("nan")])
def test_a_scale_out_of_range_is_refused(scale):
    with pytest.raises(ConfigurationError, match=f"the scale {scale} of a language is outside 0 to 10"):
        bigram_automaton(estimate_bigram(SPELLINGS, [["a"]]), SPELLINGS.__getitem__, scale)
