from __future__ import annotations

from collections.abc import Mapping

import pytest

from edge_asr.commands.interpretation import interpret
from edge_asr.events import Command
from tests.commands.command_cases import LIGHTS, network


def meant(text: str, templates: str = LIGHTS) -> tuple[str, Mapping[str, object]] | None:
    command = interpret(network(templates), text)
    return (command.intent, command.slots) if command else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Turn on the kitchen light.", ("TurnOn", {"lamp": "kitchen light"})),
        ("switch on Table-Lamp", ("TurnOn", {"lamp": "desk"})),
        ("Lamp two on", ("TurnOn", {"lamp": "lamp 2"})),
        ("dim desk lamp to 40 percent", ("Dim", {"mode": "level", "lamp": "desk", "level": 40})),
        ("Dim the desk lamp by twenty!", ("Dim", {"mode": "level", "lamp": "desk"})),
        ("add Oat Milk, and eggs to my shopping list", ("Buy", {"item": "Oat Milk, and eggs"})),
        ("turn on", None),
        ("turn on the kitchen light now", None),
        ("", None),
        ("x" * 3000, None),
    ],
)
def test_meaning(text, expected):
    assert meant(text) == expected


def test_a_value_without_a_meaning_of_its_own_is_written_as_in_the_list():
    templates = (
        "intents: {Light: {data: [{sentences: ['{name} on']}]}}\n"
        "lists: {name: {values: [{in: Desk Lamp, context: {domain: light}}]}}"
    )
    assert meant("desk-LAMP, on.", templates) == ("Light", {"name": "Desk Lamp"})


def test_a_sentence_of_lists_comes_before_one_of_words():
    templates = (
        "intents: {A: {data: [{sentences: ['{area} light on', '{name} on']}]}}\n"
        "lists: {area: {values: [kitchen]}, name: {values: [kitchen light]}}"
    )
    assert meant("kitchen light on", templates) == ("A", {"name": "kitchen light"})


def test_a_sentence_of_words_comes_before_one_with_a_wildcard():
    templates = (
        "intents: {Any: {data: [{sentences: ['play {what}']}]}, Jazz: {data: [{sentences: ['play jazz']}]}}\n"
        "lists: {what: {wildcard: true}}"
    )
    assert meant("play jazz", templates) == ("Jazz", {})
    assert meant("play blues", templates) == ("Any", {"what": "blues"})


def test_of_two_equal_sentences_the_first_is_meant():
    templates = "intents: {A: {data: [{sentences: ['go']}]}, B: {data: [{sentences: ['go']}]}}"
    assert meant("go", templates) == ("A", {})


def test_a_slot_takes_its_name_from_behind_the_colon():
    templates = (
        "intents: {A: {data: [{sentences: ['from {city:start} to {city:end}']}]}}\nlists: {city: {values: [bern, ulm]}}"
    )
    assert meant("from Ulm to Bern", templates) == ("A", {"start": "ulm", "end": "bern"})


def test_the_score_of_a_text_alone_is_one():
    assert interpret(network(LIGHTS), "lamp 2 on") == Command("TurnOn", {"lamp": "lamp 2"}, 1.0)
