"""Home Assistant's sentences as the tools take them."""

from __future__ import annotations

import json

from tools.home_sentences import HOME, command_files, english_sentences, more_names, without_wildcards


def test_lists_that_take_any_words_are_left_out_and_nothing_else() -> None:
    book: dict[str, dict[str, object]] = {
        "intents": {"HassTurnOn": {}},
        "lists": {"area": {"values": ["hall"]}, "todo": {"wildcard": True}, "level": {"range": {"from": 0}}},
    }
    closed = without_wildcards(book)
    assert closed["intents"] == book["intents"]
    assert list(closed["lists"]) == ["area", "level"]
    assert "todo" in book["lists"]


def test_the_packages_sentences_come_with_the_entities_of_the_home() -> None:
    sentences = english_sentences()
    files = command_files(sentences)
    assert "HassTurnOn" in sentences["intents"]
    assert json.loads(files["home-assistant-intents"]) == sentences
    assert files[str(HOME)] == HOME.read_text(encoding="utf-8")


def test_a_thousand_more_names_are_all_different() -> None:
    names = list(more_names(1000))
    assert names[:2] == ["Ada reading lamp", "Ada reading light"]
    assert len(set(names)) == 1000
