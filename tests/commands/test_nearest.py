from __future__ import annotations

import gc
import weakref

import pytest

from edge_asr.commands.nearest import MOST_HEARD, MOST_KEPT, Match, NearestSentence
from edge_asr.commands.word_network import word_network
from tests.commands.command_cases import LIGHTS, network

CHINESE = """
language: zh
intents: {TurnOn: {data: [{sentences: ["\u6253\u5f00{room}\u7684\u706f"]}]}}
lists: {room: {values: ["\u53a8\u623f", "\u5367\u5ba4"]}}
"""
POLITE = """
skip_words: [please]
intents: {Stop: {data: [{sentences: ["stop", "halt {name}'s song"]}]}}
lists: {name: {values: [Ann, Bob]}}
"""


def nearest(text: str, templates: str = LIGHTS) -> Match:
    read = network(templates)
    match = NearestSentence(word_network(read), frozenset(read.fillers)).find(text)
    assert match is not None
    return match


@pytest.mark.parametrize(
    "text",
    [
        "turn on the kitchen light",
        "lamp two on",
        "dim desk lamp to fifty percent",
        "dim the table lamp to 50 percent",
        "add milk and honey to my shopping list",
    ],
)
def test_a_sentence_is_nearest_to_itself(text):
    match = nearest(text)
    assert match.spellings[0] == text
    assert match.cost == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        ("turn on the chicken light", "turn on the kitchen light"),
        ("torn on kitchenlight", "turn on kitchen light"),
        ("dim the desklamp to fifti per cent", "dim the desk lamp to fifty percent"),
        ("well switch on uh the table lamb", "switch on the table lamp"),
        ("dim lamp to by twenty", "dim lamp two by twenty"),
        ("ad milk and honey to my shoping list", "add milk and honey to my shopping list"),
    ],
)
def test_what_was_misheard_is_brought_to_a_sentence(heard, meant):
    match = nearest(heard)
    assert match.spellings[0] == meant
    assert 0 < match.distance < 0.35


def test_the_further_from_a_sentence_the_greater_the_distance():
    assert nearest("turn on the kitten light").distance < nearest("thermometer kidding tonight").distance


def test_the_words_of_a_wildcard_neither_cost_nor_count():
    match = nearest("add a very long list of things to my list")
    assert match.letters == len("addtomylist")
    assert match.cost == pytest.approx(0, abs=1e-3)


def test_words_that_may_be_said_around_a_sentence_cost_nothing():
    match = nearest("please stop please", POLITE)
    assert match.cost == pytest.approx(0, abs=1e-3)


def test_a_word_goes_on_behind_a_list():
    assert nearest("halt ann's song", POLITE).spellings[0] == "halt anns song"


def test_chinese_needs_no_spaces():
    match = nearest("\u6253\u5f00\u5367\u5ba4\u7684\u706f", CHINESE)
    assert match.spellings[0] == "\u6253\u5f00\u5367\u5ba4\u7684\u706f"


def test_nothing_is_near_to_silence_or_to_a_speech():
    search = NearestSentence(word_network(network(LIGHTS)))
    assert search.find("") is None
    assert search.find(" ".join(["word"] * (MOST_HEARD + 1))) is None


def test_a_text_is_looked_up_once_as_long_as_it_is_remembered():
    search = NearestSentence(word_network(network(LIGHTS)))
    first = search.find("turn on the chicken light")
    assert search.find("turn on the chicken light") is first
    for number in range(MOST_KEPT):
        search.find(f"word {number}")
    again = search.find("turn on the chicken light")
    assert again == first
    assert again is not first


def test_what_nobody_holds_any_more_is_gone_without_the_collector():
    search = NearestSentence(word_network(network(LIGHTS)))
    search.find("turn on the chicken light")
    held = weakref.ref(search)
    gc.disable()
    try:
        del search
        assert held() is None
    finally:
        gc.enable()
