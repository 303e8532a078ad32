from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.commands.hotwords import MOST_HOTWORDS, HotwordList, read_hotwords, split_boost
from edge_asr.engines.base import Hotword
from edge_asr.errors import ConfigurationError
from edge_asr.settings import MAX_HOTWORDS_SCORE, MIN_HOTWORDS_SCORE


def by_letters(phrase: str) -> tuple[int, ...]:
    if "?" in phrase:
        raise ConfigurationError(f"{phrase!r} cannot be spelled")
    return tuple(map(ord, phrase))


def read(text: str, default_boost: float = 1.5) -> HotwordList:
    return read_hotwords(text.splitlines(), by_letters, default_boost)


def hotword(phrase: str, boost: float) -> Hotword:
    return Hotword(by_letters(phrase), boost)


def test_each_line_is_a_phrase_with_its_boost_or_the_default():
    assert read("kitchen\nliving  room :2.5\n").hotwords == (hotword("kitchen", 1.5), hotword("living room", 2.5))


def test_comments_and_empty_lines_are_passed_over():
    assert read("\ufeff# names\n\n  # more\r\nkitchen\n") == HotwordList((hotword("kitchen", 1.5),))


def test_what_cannot_be_used_is_said_by_its_line_and_the_rest_is_loaded():
    mistakes = read("kitchen\nwhat?\n# comment\n:2\nhall :loud\nhall").mistakes
    assert mistakes == (
        "line 2: 'what?' cannot be spelled",
        "line 4: there is a boost and no phrase before it",
        "line 5: the boost 'loud' is no number from 0.1 to 20",
    )


def test_the_account_counts_and_names_the_first_mistakes():
    account = read("kitchen\n" + "?\n" * 7).account
    assert account.startswith("hotwords: 1 loaded, 7 skipped: line 2: '?' cannot be spelled; line 3:")
    assert account.endswith("line 6: '?' cannot be spelled; and 2 more")


def test_of_two_lines_with_the_same_phrase_the_later_one_counts():
    assert read("kitchen :3\nkitchen :2").hotwords == (hotword("kitchen", 2.0),)


def test_more_than_a_stream_can_be_given_are_skipped_by_line():
    numbers = "\n".join(map(str, range(MOST_HOTWORDS + 1)))
    several = read(numbers)
    assert len(several.hotwords) == MOST_HOTWORDS
    assert several.mistakes == (
        f"line {MOST_HOTWORDS + 1}: {MOST_HOTWORDS} hotwords are loaded already, and more are not",
    )


@pytest.mark.parametrize("boost", ["", "abc", "nan", "inf", "-1", "0", "20.1", "1e9", "2,5"])
def test_boosts_that_are_none_are_refused(boost):
    with pytest.raises(ConfigurationError, match=r"no number from 0\.1 to 20"):
        split_boost(f"kitchen :{boost}", 1.5)


def test_a_phrase_without_end_is_refused():
    with pytest.raises(ConfigurationError, match="201 characters"):
        split_boost("x" * 201, 1.5)


@given(text=st.text())
def test_any_text_is_read(text):
    several = read(text)
    assert all(word.tokens and MIN_HOTWORDS_SCORE <= word.boost <= MAX_HOTWORDS_SCORE for word in several.hotwords)
