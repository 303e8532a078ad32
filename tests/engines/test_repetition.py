"""Loops of encoder-decoder models, and people who repeat themselves."""

from __future__ import annotations

import pytest

from edge_asr.engines.repetition import is_runaway, without_loop

LOOP = "Set the temperature to 25% and 20% to 30% and 30% to 30% to 30% to 30% to 30%"


@pytest.mark.parametrize(
    ("text", "duration_s"),
    [
        (LOOP, 2.2),
        ("the the the the the the the the", 1.0),
        ("Thank you. Thank you. Thank you. Thank you.", 1.0),
        ("go on and on and on and on and on and", 2.0),
    ],
)
def test_a_phrase_over_and_over_faster_than_anybody_speaks_is_a_loop(text, duration_s):
    assert is_runaway(text, duration_s)


@pytest.mark.parametrize(
    ("text", "duration_s"),
    [
        ("", 1.0),
        ("no no no", 1.0),
        ("five five five five", 1.2),
        ("very very good", 0.5),
        (LOOP, 5.0),
        ("set the temperature to twenty five percent in the living room", 2.0),
    ],
)
def test_what_people_can_say_is_not(text, duration_s):
    assert not is_runaway(text, duration_s)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a b c a b c a b c", "a b c"),
        ("Go home. Thank you. Thank you. Thank you. Thank", "Go home. Thank you."),
        ("no, No no!", "no,"),
        ("nothing is said again", "nothing is said again"),
        ("", ""),
    ],
)
def test_the_phrase_stays_once(text, kept):
    assert without_loop(text) == kept
