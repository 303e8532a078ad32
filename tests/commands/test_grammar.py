from __future__ import annotations

import pytest

from edge_asr.commands.grammar import Alternatives, Repeat, Sequence, Weighted, Word, sentences, word_loop
from edge_asr.errors import ConfigurationError


def test_a_sentence_given_twice_counts_once():
    assert sentences(["stop", " go  on ", "", "go on", "stop"]) == Alternatives(
        (Sequence((Word("stop"),)), Sequence((Word("go"), Word("on"))))
    )


def test_a_word_list_may_have_several_words_a_line():
    assert word_loop(["one two", "two", ""]) == Repeat(Alternatives((Word("one"), Word("two"))), at_least=1)


@pytest.mark.parametrize(("make", "what"), [(sentences, "list of sentences"), (word_loop, "word list")])
def test_an_empty_list_is_refused(make, what):
    with pytest.raises(ConfigurationError, match=f"the {what} is empty; write one"):
        make(["", "  "])


@pytest.mark.parametrize(("at_least", "at_most"), [(-1, None), (2, 1), (0, 0)])
def test_impossible_repetitions_are_refused(at_least, at_most):
    with pytest.raises(ConfigurationError, match=f"repeated {at_least} to {at_most} times"):
        Repeat(Word("one"), at_least, at_most)


@pytest.mark.parametrize("cost", [-1.0, float("inf"), float("nan")])
def test_costs_are_not_negative_and_finite(cost):
    with pytest.raises(ConfigurationError, match=f"the cost {cost}"):
        Weighted(Word("one"), cost)
