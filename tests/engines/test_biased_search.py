"""Phrases that are expected: preferred where they may have been said, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.commands.phrase_bias import PhraseBias, VocabularySpeller
from edge_asr.commands.token_trie import build_trie
from edge_asr.engines.base import Hotword
from edge_asr.engines.beam import IntArray, SearchOptions
from edge_asr.engines.biased_search import search_biased
from edge_asr.errors import ConfigurationError

VOCABULARY = ("", "", " the", " ter", "race", "rorist", " coffee", "s", " Terrace", ".")
BEGIN, END = 0, 1
OPTIONS = SearchOptions(BEGIN, END, width=4, most_tokens=8)
TRIE = build_trie(VOCABULARY)
SPELLER = VocabularySpeller(TRIE, VOCABULARY)


class Scripted:
    """At each place certain tokens are likely, whatever was said before."""

    def __init__(self, *likely: dict[str, float]) -> None:
        self._likely = likely
        self._at = 0

    def step(self, parents: IntArray, tokens: IntArray) -> Float32Array:
        scores = np.full((len(tokens), len(VOCABULARY)), -20.0, np.float32)
        for text, score in (self._likely[self._at] if self._at < len(self._likely) else {"": 0.0}).items():
            scores[:, VOCABULARY.index(text, 1) if text else END] = score
        self._at += 1
        return scores


HEARD = ({" the": 0.0}, {" ter": 0.0}, {"rorist": 0.0, "race": -2.0}, {"": 0.0})


def found(bias: PhraseBias, *likely: dict[str, float]) -> str:
    path = search_biased(Scripted(*likely), bias, OPTIONS)
    return "".join(VOCABULARY[token] for token in path.tokens)


def bias(*phrases: str, boost: float = 1.5) -> PhraseBias:
    return SPELLER.bias([Hotword(SPELLER.spell(phrase), boost) for phrase in phrases])


def test_without_phrases_the_likeliest_text_is_found() -> None:
    assert found(bias(), *HEARD) == " the terrorist"


def test_a_phrase_that_may_have_been_said_is_preferred() -> None:
    assert found(PhraseBias([("terrace", 0.4)], TRIE, VOCABULARY), *HEARD) == " the terrace"


def test_a_phrase_that_was_hardly_said_is_not() -> None:
    assert found(PhraseBias([("terrace", 0.1)], TRIE, VOCABULARY), *HEARD) == " the terrorist"


def test_a_phrase_that_breaks_off_has_gained_nothing() -> None:
    begun = PhraseBias([("the coffee", 2.0)], TRIE, VOCABULARY)
    likely = ({" the": -3.0, " ter": 0.0}, {"race": 0.0}, {"": 0.0})
    assert found(begun, *likely) == " terrace"


def test_inside_a_longer_word_it_is_not_the_phrase() -> None:
    likely = ({" coffee": -2.0, " the": 0.0}, {"s": 0.0})
    assert found(PhraseBias([("coffee", 0.5)], TRIE, VOCABULARY), *likely) == " thes"


def test_probabilities_are_the_model_s_own() -> None:
    path = search_biased(Scripted(*HEARD), PhraseBias([("terrace", 2.0)], TRIE, VOCABULARY), OPTIONS)
    assert path.log_probs[-1] == pytest.approx(-2.0 - np.log1p(np.exp(-2.0)), abs=1e-3)


def test_phrases_are_spelled_by_the_longest_tokens_whatever_their_case() -> None:
    assert [VOCABULARY[token] for token in SPELLER.spell("The  terrace")] == [" the", " Terrace"]


def test_what_has_no_token_cannot_be_spelled() -> None:
    with pytest.raises(ConfigurationError, match="'t'"):
        SPELLER.spell("taxi")


@pytest.mark.parametrize(
    ("text", "is_in"),
    [("On the terrace.", True), ("Terraces", False), ("the terrorist", False), ("Terrace", True), ("", False)],
)
def test_a_phrase_stands_in_a_text_as_whole_words(text: str, is_in: bool) -> None:
    assert bias("terrace").is_in(text) is is_in


def test_the_boost_is_spread_over_the_characters_of_each_token() -> None:
    (gain,) = {node.value for node in bias("terrace", boost=2.0)._nodes if node.is_end}
    assert gain == pytest.approx(2.0)
