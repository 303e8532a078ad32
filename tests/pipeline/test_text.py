from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.engines.base import Token
from edge_asr.events import Word
from edge_asr.pipeline.text import CASES, tidy, words_from_tokens


def tokens(*pairs: tuple[str, float]) -> list[Token]:
    return [Token(text, start_s) for text, start_s in pairs]


def test_tidy_text_has_single_spaces_and_no_marks() -> None:
    assert tidy("\u2581TURN  on\u2581 the light ") == "TURN on the light"


def test_capitals_are_lowered_only_on_demand() -> None:
    assert (CASES["as_is"]("TURN On"), CASES["lower"]("TURN On")) == ("TURN On", "turn on")


def test_tokens_of_a_word_are_merged_and_end_where_the_next_begins() -> None:
    merged = words_from_tokens(tokens((" te", 1.0), ("n", 1.1), (" m", 1.2), ("eters", 1.3)), "ten meters", 9.0)
    assert [word.text for word in merged] == ["ten", "meters"]
    assert [time for word in merged for time in (word.start_s, word.end_s)] == pytest.approx([1.0, 1.2, 1.2, 1.55])


def test_the_first_token_needs_no_space() -> None:
    assert [word.text for word in words_from_tokens(tokens(("go", 0.1), (" on", 0.3)), "go on", 1.0)] == ["go", "on"]


def test_a_lone_word_mark_begins_the_next_word() -> None:
    merged = words_from_tokens(tokens(("\u2581", 0.1), ("go", 0.2), ("\u2581", 0.4), ("on", 0.5)), "go on", 1.0)
    assert [(word.text, word.start_s) for word in merged] == [("go", 0.1), ("on", 0.4)]


def test_han_characters_are_words_of_their_own() -> None:
    merged = words_from_tokens(tokens(("打", 0.1), ("开", 0.2), ("led", 0.3), ("灯", 0.6)), "打开led灯", 1.0)
    assert [word.text for word in merged] == ["打", "开", "led", "灯"]


def test_no_word_ends_after_the_audio() -> None:
    assert words_from_tokens(tokens((" go", 0.9)), "go", 1.0) == (Word("go", 0.9, 1.0, None),)


def test_confidence_is_the_geometric_mean_of_the_tokens() -> None:
    (word,) = words_from_tokens([Token(" te", 0.0, math.log(0.5)), Token("n", 0.1, math.log(0.125))], "ten", 1.0)
    assert word.confidence == pytest.approx(0.25)


def test_words_are_spread_when_the_tokens_do_not_spell_the_text() -> None:
    merged = words_from_tokens(tokens(("<0xE4>", 1.0), ("<0xB8>", 1.75)), "two words", 9.0)
    assert [(word.text, word.start_s, word.end_s) for word in merged] == [("two", 1.0, 1.5), ("words", 1.5, 2.0)]


def test_no_text_has_no_words() -> None:
    assert words_from_tokens([], "", 1.0) == ()


@given(
    st.lists(st.tuples(st.sampled_from([" a", "b", "\u2581", "灯", " c"]), st.floats(0, 1)), max_size=12),
    st.floats(0, 20),
)
def test_times_never_go_back_and_every_letter_is_kept(steps: list[tuple[str, float]], tail_s: float) -> None:
    start_s, spelled = 0.0, []
    for text, step_s in steps:
        start_s += step_s
        spelled.append(Token(text, start_s))
    text = tidy("".join(token.text for token in spelled))
    merged = words_from_tokens(spelled, text, start_s + tail_s)
    assert "".join(word.text for word in merged) == text.replace(" ", "")
    times = [time for word in merged for time in (word.start_s, word.end_s)]
    assert times == sorted(times)
