"""Words keep their times when the text is written otherwise."""

from __future__ import annotations

import pytest

from edge_asr.events import Word
from edge_asr.pipeline.rewriting import rewritten, written_words


def said(*texts: str, confidence: float | None = 0.5) -> tuple[Word, ...]:
    return tuple(Word(text, float(at), at + 0.5, confidence) for at, text in enumerate(texts))


def test_several_words_become_one_with_the_time_of_all() -> None:
    (set_, to, number) = rewritten(said("set", "to", "twenty", "five"), "set to 25")
    assert (set_.text, to.text) == ("set", "to")
    assert number == Word("25", 2.0, 3.5, 0.5)


def test_one_word_becomes_several_that_share_its_time() -> None:
    words = rewritten(said("midnight"), "0:00 a.m.")
    assert [(word.text, word.start_s, word.end_s) for word in words] == [("0:00", 0.0, 0.25), ("a.m.", 0.25, 0.5)]


def test_case_and_punctuation_change_no_time() -> None:
    before = said("hello", "world")
    after = rewritten(before, "Hello, world.")
    assert [word.text for word in after] == ["Hello,", "world."]
    assert [(word.start_s, word.end_s) for word in after] == [(word.start_s, word.end_s) for word in before]


def test_the_confidence_of_a_number_is_the_geometric_mean_of_its_words() -> None:
    words = (Word("twenty", 0, 1, 0.9), Word("five", 1, 2, 0.4))
    assert rewritten(words, "25")[0].confidence == pytest.approx(0.6)


def test_a_confidence_that_is_not_known_for_every_word_is_not_known() -> None:
    assert rewritten((Word("twenty", 0, 1, 0.9), Word("five", 1, 2)), "25")[0].confidence is None


def test_characters_are_words_where_there_are_no_spaces() -> None:
    assert list(written_words("今天2026年5月，好。 hello you")) == [
        "今",
        "天",
        "2026",
        "年",
        "5",
        "月，",
        "好。",
        "hello",
        "you",
    ]


def test_chinese_numbers_take_the_time_of_their_characters() -> None:
    words = rewritten(said("有", "二", "十", "五", "个"), "有25个")
    assert [(word.text, word.start_s, word.end_s) for word in words] == [
        ("有", 0.0, 0.5),
        ("25", 1.0, 3.5),
        ("个", 4.0, 4.5),
    ]


def test_no_words_stay_no_words() -> None:
    assert rewritten((), "anything") == ()
