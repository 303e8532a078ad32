from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.commands.bigram import START, Bigram, estimate_bigram
from edge_asr.errors import ConfigurationError

WORDS = ("lamp", "on", "off", "go")
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=8)


def probability(bigram: Bigram, before: str, word: str) -> float:
    following = bigram.following.get(before, {})
    return following[word] if word in following else bigram.back_off[before] * bigram.single[word]


@given(sentences=SENTENCES, pairs=st.integers(0, 12), evenly=st.floats(0.01, 1))
def test_what_may_follow_adds_up_to_one(sentences, pairs, evenly):
    bigram = estimate_bigram(WORDS, sentences, pairs=pairs, evenly=evenly)
    assert sum(bigram.single.values()) + bigram.end_anywhere == pytest.approx(1)
    for before in (START, *WORDS):
        assert sum(probability(bigram, before, word) for word in WORDS) + bigram.end[before] == pytest.approx(1)


def test_pairs_are_discounted_by_how_many_choices_there_were():
    bigram = estimate_bigram(("a", "b"), [["a", "b"], ["a", "b"], ["a"]], evenly=1.0)
    # After "a": twice "b", once the end; two choices. Alone, each of 5 words and 3 ends: 5/16 a word, 3/8 the end.
    assert bigram.following["a"] == {"b": pytest.approx((2 + 2 * 5 / 16) / 5)}
    assert bigram.end["a"] == pytest.approx((1 + 2 * 3 / 8) / 5)


def test_words_that_no_sentence_has_stand_alone_with_an_even_share():
    bigram = estimate_bigram(("a", "b", "c", "d"), [["a"]], evenly=0.4)
    assert bigram.single["b"] == pytest.approx(0.5 * 0.4 / 4)
    assert bigram.end["b"] == 0.5
    assert bigram.back_off["b"] == pytest.approx(1)


def test_the_pairs_that_tell_most_are_kept():
    often = [["lamp", "on"]] * 9
    bigram = estimate_bigram(WORDS, [*often, ["go", "off"]], pairs=2)
    assert {before: list(after) for before, after in bigram.following.items()} == {START: ["lamp"], "lamp": ["on"]}


@pytest.mark.parametrize(
    ("words", "sentences", "complaint"),
    [
        ((), [], "there are no words, or no sentences"),
        (("a",), [[]], "there are no words, or no sentences"),
        (("a",), [["a", "b"]], "a sentence has the word 'b'; add it to the list of words"),
    ],
)
def test_what_says_nothing_is_refused(words, sentences, complaint):
    with pytest.raises(ConfigurationError, match=complaint):
        estimate_bigram(words, sentences)


@pytest.mark.parametrize(("evenly", "pairs"), [(0.0, 1), (1.1, 1), (float("nan"), 1), (0.5, -1)])
def test_numbers_out_of_range_are_refused(evenly, pairs):
    with pytest.raises(ConfigurationError, match="evenly = "):
        estimate_bigram(("a",), [["a"]], evenly=evenly, pairs=pairs)
