from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from edge_asr.commands import drawing as drawing_module
from edge_asr.commands.automaton import Automaton, build_automaton
from edge_asr.commands.drawing import ANY_SPEECH, Label
from edge_asr.commands.grammar import (
    Alternatives,
    AnySpeech,
    Expression,
    Repeat,
    Sequence,
    Weighted,
    Word,
    sentences,
    word_loop,
)
from edge_asr.errors import ConfigurationError

LONGEST = 4
SPELLINGS = {"a": (1,), "aa": (1, 1), "ab": (1, 2), "b": (2,), "ba": (2, 1)}

A_OR_B = Alternatives((Word("a"), Word("b")))


def expressions() -> st.SearchStrategy[Expression]:
    words = st.sampled_from(sorted(SPELLINGS)).map(Word)
    return st.recursive(
        words,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda parts: Sequence(tuple(parts))),
            st.lists(inner, min_size=1, max_size=3).map(lambda choices: Alternatives(tuple(choices))),
            st.builds(Repeat, inner, st.integers(0, 2), st.one_of(st.none(), st.integers(2, 3))),
            st.builds(Weighted, inner, st.sampled_from([0.0, 0.5, 1.0])),
        ),
        max_leaves=6,
    )


def language(expression: Expression) -> set[tuple[int, ...]]:
    """Every sentence of up to ``LONGEST`` tokens, by the meaning of the operators."""
    match expression:
        case Word(text):
            return {SPELLINGS[text]}
        case Alternatives(choices):
            return set().union(*map(language, choices))
        case Weighted(part, _):
            return language(part)
        case Sequence(parts):
            return concatenated([language(part) for part in parts])
        case Repeat(part, at_least, at_most):
            once = language(part)
            counts = range(at_least, (at_least + LONGEST if at_most is None else at_most) + 1)
            return set().union(*(concatenated([once] * count) for count in counts))
    raise AssertionError(expression)


def concatenated(languages: list[set[tuple[int, ...]]]) -> set[tuple[int, ...]]:
    result: set[tuple[int, ...]] = {()}
    for one in languages:
        result = {first + second for first in result for second in one if len(first + second) <= LONGEST}
    return result


def every_string() -> list[tuple[int, ...]]:
    return [string for length in range(LONGEST + 1) for string in itertools.product((1, 2), repeat=length)]


def built(expression: Expression, word_cost: float = 0.0) -> Automaton:
    return build_automaton(expression, SPELLINGS.__getitem__, word_cost)


@given(expression=expressions())
def test_exactly_the_language_is_accepted(expression):
    automaton = built(expression)
    assert {string for string in every_string() if automaton.accepts(string)} == {
        string for string in language(expression) if len(string) <= LONGEST
    }


@given(expression=expressions())
@example(expression=Repeat(Alternatives((Word("a"), Word("b"), Sequence((Word("aa"), Word("aa"))))), 0, None))
def test_how_a_language_is_written_makes_no_difference(expression):
    twice = Alternatives((Sequence((expression,)), expression))
    assert built(twice) == built(expression)


def test_the_automaton_is_the_smallest():
    assert built(sentences(["a a", "b a"])) == Automaton(
        arcs=({Label(1): 1, Label(2): 1}, {Label(1): 2}, {}), final={2: 0.0}
    )


def test_nested_repeats_become_one_loop():
    nested = Repeat(Repeat(Word("a"), 1, None), 2, None)
    assert built(nested) == Automaton(arcs=({Label(1): 1}, {Label(1): 2}, {Label(1): 2}), final={2: 0.0})


def test_a_word_loop_returns_to_its_start():
    assert built(word_loop(["a", "b"])).arcs[1] == {Label(1): 1, Label(2): 1}


def test_each_word_costs_once():
    automaton = built(sentences(["ab b"]), word_cost=1.5)
    assert [next(iter(labels), None) for labels in automaton.arcs] == [
        Label(1, 1.5), Label(2), Label(2, 1.5), None,
    ]  # fmt: skip


def test_the_cost_of_a_choice_is_on_its_first_token():
    automaton = built(Alternatives((Word("a"), Weighted(Word("ba"), 2.0))))
    assert set(automaton.arcs[0]) == {Label(1, 0.0), Label(2, 2.0)}


def test_an_optional_part_that_costs_leaves_the_way_around_it_free():
    assert built(Sequence((Word("a"), Repeat(Weighted(Word("b"), 1.0), at_most=1)))).final == {1: 0.0, 2: 0.0}


def test_a_costly_way_to_say_nothing_is_paid_at_the_end():
    assert built(Sequence((Word("a"), Weighted(Sequence(()), 1.0)))).final == {1: 1.0}


def test_any_speech_is_a_label_of_its_own_and_no_sentence():
    automaton = built(Alternatives((Word("a"), AnySpeech())))
    assert set(automaton.arcs[0]) == {Label(ANY_SPEECH), Label(1)}
    assert not automaton.accepts([ANY_SPEECH + 1])


def test_a_part_that_cannot_be_said_leaves_the_rest():
    assert built(Alternatives((Word("a"), Sequence((Word("b"), Alternatives(())))))) == built(Word("a"))


def test_a_grammar_without_a_sentence_is_refused():
    with pytest.raises(ConfigurationError, match="the grammar has no sentence"):
        built(Alternatives(()))


@pytest.mark.parametrize(
    "expression",
    [
        Repeat(Repeat(Word("a"), 1000), 1000),  # too large to draw
        Sequence((Repeat(A_OR_B), Word("a"), Repeat(A_OR_B, 40, 40))),  # 2 ** 40 states when deterministic
    ],
    ids=["drawn", "determinized"],
)
def test_what_grows_too_large_is_refused_in_time(monkeypatch, expression):
    monkeypatch.setattr(drawing_module, "MOST_ARCS", 20_000)
    with pytest.raises(ConfigurationError, match="the grammar needs more than 20000 states or arcs; split it"):
        built(expression)
