from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.commands import word_graph as word_graph_module
from edge_asr.commands.automaton import build_from_words
from edge_asr.commands.drawing import ANY_SPEECH
from edge_asr.commands.graph import build_command_graph
from edge_asr.commands.spelling import Speller, read_speller
from edge_asr.commands.word_graph import WordGraph, word_graph
from edge_asr.errors import ConfigurationError
from tests.commands.command_cases import LIGHTS, network

STARTER = Path(__file__).resolve().parents[2] / "models" / "starter-en"
CLOSED = LIGHTS.replace('      - sentences: ["add {item} to [<my>] list"]\n', '      - sentences: ["what\'s on"]\n')


@pytest.fixture(scope="module")
def speller() -> Speller:
    return read_speller(STARTER / "bpe.model", STARTER / "tokens.txt")


def says(graph: WordGraph, text: str) -> bool:
    states = {0}
    for word in text.split():
        states = {after for state in states for said, after in graph.arcs[state] if said == word}
    return bool(states & graph.final)


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("turn on the kitchen light", True),
        ("lamp 2 on", True),
        ("lamp two on", True),
        ("dim table lamp to twenty one percent", True),
        ("what's on", True),
        ("turn on the", False),
        ("turnon lamp 2", False),
    ],
)
def test_the_words_of_sentences(text, is_said):
    assert says(word_graph(network(CLOSED)), text) == is_said


def test_wildcards_have_no_words():
    with pytest.raises(ConfigurationError, match="wildcards are any words"):
        word_graph(network(LIGHTS))


def test_too_many_words_are_refused(monkeypatch):
    monkeypatch.setattr(word_graph_module, "MOST_WORDS", 5)
    with pytest.raises(ConfigurationError, match="more than 5 words"):
        word_graph(network(CLOSED))


def test_an_automaton_of_words_has_what_can_be_spelled_and_a_way_out(speller):
    automaton = build_from_words(word_graph(network(CLOSED)), speller.spell)

    def accepts(text: str) -> bool:
        return automaton.accepts([token for word in text.split() for token in speller.spell(word)])

    assert accepts("lamp two on")
    assert accepts("whats on")  # the model has no apostrophe
    assert not accepts("lamp on")
    assert any(label.token == ANY_SPEECH for label in automaton.arcs[0])


def test_sentences_that_cannot_be_spelled_at_all_are_no_language(speller):
    with pytest.raises(ConfigurationError, match="no sentence"):
        build_from_words(WordGraph([[("123", 1)], []], {1}), speller.spell)


def test_the_graph_of_templates_can_be_written(speller, tmp_path):
    build_command_graph(network(CLOSED), speller).write(tmp_path / "commands.fst")
    assert (tmp_path / "commands.fst").stat().st_size > 1000
