from __future__ import annotations

import pytest

from edge_asr.commands import constraint as constraint_module
from edge_asr.commands.constraint import NetworkConstraint
from edge_asr.commands.token_trie import build_trie
from edge_asr.errors import ConfigurationError
from tests.commands.command_cases import LIGHTS, accepts, network, spells, tokens_of, vocabulary


@pytest.mark.parametrize(
    "text",
    [
        "turn on the kitchen light",
        "turn on kitchen light",
        "switch on table lamp",
        "dim desk lamp to 50 percent",
        "dim desk lamp to fifty percent",
        "dim the desk lamp by 20",
        "turn on lamp two",
        "Turn on the Kitchen-light.",
        "turn on, the kitchen light!",
        "add oat milk and 2 eggs to my shopping list",
        "add milk to list",
    ],
)
def test_sentences_may_be_written(text):
    assert spells(text.lower(), LIGHTS)


@pytest.mark.parametrize(
    "text",
    [
        "turn on the",
        "turn on the kitchen",
        "turn off the kitchen light",
        "turn on the kitchen light light",
        "turn on the kitch,en light",
        "dim desk lamp to 101 percent",
        "add to list",
        "turnon lamp 2",
    ],
)
def test_nothing_else_may_be_written(text):
    assert not spells(text, LIGHTS)


def test_case_of_tokens_does_not_matter():
    texts = vocabulary(" Turn", " On", " LAMP")
    constraint = NetworkConstraint(network(LIGHTS), build_trie(texts))
    assert accepts(constraint, tokens_of("Turn On LAMP 2", texts))


def test_a_token_may_span_a_part_of_the_network_and_what_comes_behind_it():
    templates = "intents: {A: {data: [{sentences: ['{thing}s']}]}}\nlists: {thing: {values: [lamp, fan]}}"
    assert spells("lamps", templates, " lamps", " fan")


def test_what_follows_the_beginning_is_where_sentences_begin():
    texts = vocabulary(" turn", " dim", " the", "turn")
    constraint = NetworkConstraint(network(LIGHTS), build_trie(texts))
    following = constraint.following(constraint.begin())
    assert {texts[token] for token in following.tokens} >= {" turn", " dim", " t", " d"}
    assert {" the", "turn", " x"}.isdisjoint(texts[token] for token in following.tokens)


def test_templates_that_go_on_alike_share_a_state():
    texts = vocabulary(" turn", " switch", " on")
    constraint = NetworkConstraint(network(LIGHTS), build_trie(texts))
    following = constraint.following(constraint.begin())
    states = dict(zip(following.tokens.tolist(), following.states.tolist(), strict=True))
    assert states[texts.index(" turn")] == states[texts.index(" switch")]


def test_what_was_walked_ahead_is_what_is_found_later():
    texts = vocabulary(" turn", " switch", " lamp")
    warm = NetworkConstraint(network(LIGHTS), build_trie(texts))
    warm.warm_up()
    assert accepts(warm, tokens_of("lamp 2 on", texts))
    assert not accepts(warm, tokens_of("lamp 2", texts))


def test_two_spaces_are_one():
    texts = [*vocabulary(), " "]
    constraint = NetworkConstraint(network(LIGHTS), build_trie(texts))
    assert accepts(constraint, [len(texts) - 1, *[texts.index(letter) for letter in "lamp"], *tokens_of("2 on", texts)])


def test_a_wildcard_takes_tokens_that_no_sentence_has():
    assert spells("add xylophone7 to list", LIGHTS)


def test_sentences_that_go_on_in_too_many_ways_are_refused():
    optional = network(f"intents: {{A: {{data: [{{sentences: ['{'[a] ' * 1000}']}}]}}}}")
    with pytest.raises(ConfigurationError, match="in too many ways; use fewer optional parts"):
        NetworkConstraint(optional, build_trie(vocabulary(" a a", " a"))).warm_up()


def test_thousands_of_sentences_that_begin_alike_are_not_too_many():
    texts = ", ".join(f"turn on lamp {number}" for number in range(1000, 4000))
    alike = network(f"intents: {{A: {{data: [{{sentences: [{texts}]}}]}}}}")
    NetworkConstraint(alike, build_trie(vocabulary("turn", "on", "lamp"))).warm_up()


def test_states_are_forgotten_between_texts_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(constraint_module, "MOST_REMEMBERED", 1)
    texts = vocabulary()
    constraint = NetworkConstraint(network(LIGHTS), build_trie(texts))
    assert accepts(constraint, tokens_of("lamp 2 on", texts))
    assert constraint.begin() == 0
    assert accepts(constraint, tokens_of("lamp 2 on", texts))
