from __future__ import annotations

import pytest

from edge_asr.commands import word_network as module
from edge_asr.commands.word_network import CALL, SILENT, WORD, WordNetwork, word_network
from edge_asr.errors import ConfigurationError
from tests.commands.command_cases import LIGHTS, network

POLITE = """
skip_words: [would you please]
intents: {Stop: {data: [{sentences: ["stop", "halt {name}'s song"]}]}}
lists: {name: {values: [Ann, Bob]}}
"""


def words(templates: str) -> WordNetwork:
    return word_network(network(templates))


def test_words_are_those_of_the_sentences_and_begin_with_a_space():
    found = words(LIGHTS).words
    assert {" turn", " switch", " kitchen", " desk", " lamp", " fifty", " 50", " shopping"} <= set(found)


def test_what_goes_on_behind_a_list_begins_without_one():
    assert "s" in words(POLITE).words


def test_every_way_leads_to_a_later_level():
    found = words(POLITE)
    begins = [level.begin for level in found.levels]
    assert begins == sorted(begins)
    for level in found.levels:
        for arcs in level.arcs:
            assert (arcs.sources < level.begin).all()
            assert ((arcs.targets >= level.begin) & (arcs.targets < level.end)).all()


def test_a_part_is_there_once_however_often_it_is_called():
    once = words("intents: {Go: {data: [{sentences: ['go {n}']}]}}\nlists: {n: {range: {from: 0, to: 99}}}")
    twice = words("intents: {Go: {data: [{sentences: ['go {n} then {n}']}]}}\nlists: {n: {range: {from: 0, to: 99}}}")
    assert twice.size - once.size < 10


def test_wildcards_are_known_by_their_part():
    found = words(LIGHTS)
    called = [int(label) for level in found.levels for arcs in level.arcs if arcs.kind == CALL for label in arcs.labels]
    assert len(found.wild & set(called)) == 1


def test_the_words_of_most_sentences_come_first():
    found = words("intents: {A: {data: [{sentences: [open it, open that, close a 5]}]}}").frequent(3)
    assert found[0] == "open"
    assert len(found) == 3
    assert words("intents: {A: {data: [{sentences: [a 5]}]}}").frequent(3) == ["five"]


def test_kinds_are_told_apart():
    kinds = {arcs.kind for level in words(LIGHTS).levels for arcs in level.arcs}
    assert kinds == {SILENT, WORD, CALL}


def test_too_many_words_are_an_error(monkeypatch):
    monkeypatch.setattr(module, "MOST_ARCS", 10)
    with pytest.raises(ConfigurationError, match="more than 10 words"):
        words(LIGHTS)
