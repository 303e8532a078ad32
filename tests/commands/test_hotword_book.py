from __future__ import annotations

import pytest

from edge_asr.commands.hotword_book import HotwordBook
from edge_asr.engines.base import Hotword
from edge_asr.errors import ConfigurationError
from tests.commands.test_hotwords import by_letters, hotword


def book(text: str = "", why_not: str = "") -> HotwordBook:
    return HotwordBook(by_letters, why_not, 1.5, {"names.txt": text} if text else {})


def told(several: tuple[Hotword, ...]) -> dict[str, float]:
    return {"".join(map(chr, each.tokens)): each.boost for each in several}


def test_a_session_has_the_configured_hotwords_and_its_own():
    assert told(book("kitchen :2\nhall").of_session(["attic", "hall :4"]).hotwords) == {
        "kitchen": 2.0,
        "hall": 4.0,
        "attic": 1.5,
    }


def test_what_a_session_brings_stays_with_it():
    shared = book("kitchen")
    shared.of_session(["attic"])
    assert shared.of_session([]).hotwords == (hotword("kitchen", 1.5),)


def test_unusable_hotwords_of_a_session_are_told_and_cost_it_nothing_else():
    several = book("kitchen").of_session(["what?"])
    assert told(several.hotwords) == {"kitchen": 1.5}
    assert several.account == "hotwords: 0 loaded, 1 skipped: hotword 1: 'what?' cannot be spelled"


def test_the_operator_is_told_how_many_were_loaded():
    assert book("kitchen\n?").notes == ("names.txt: hotwords: 1 loaded, 1 skipped: line 2: '?' cannot be spelled",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("?", "names.txt: hotwords: 0 loaded, 1 skipped: line 1"),
        ("# nothing", "names.txt: there are no hotwords in it"),
    ],
)
def test_a_configured_list_without_a_usable_hotword_is_an_error(text, reason):
    with pytest.raises(ConfigurationError, match=reason):
        book(text)


def test_a_model_that_takes_none_refuses_configured_ones_and_ignores_a_sessions():
    with pytest.raises(ConfigurationError, match=r"names\.txt cannot be used: it is deaf"):
        book("kitchen", "it is deaf")
    assert book(why_not="it is deaf").of_session(["kitchen"]).hotwords == ()


def test_words_of_commands_are_expected_too_and_give_way_to_hotwords():
    several = book().of_session(["attic :4"], ["attic", "hall", "??"])
    assert told(several.hotwords) == {"attic": 4.0, "hall": 1.5}
    assert several.mistakes == ()
