"""Capitals that are certain, and nothing else."""

from __future__ import annotations

import pytest

from edge_asr.pipeline.sentence_case import capitalised, is_unwritten


@pytest.mark.parametrize(
    ("heard", "written"),
    [
        ("turn on the light", "Turn on the light"),
        ("i think i'm late", "I think I'm late"),
        ("in it i will", "In it I will"),
        ("see you on monday in april", "See you on Monday in April"),
        ("may i march", "May I march"),
        ("'tis so", "'Tis so"),
        ("", ""),
    ],
)
def test_english(heard: str, written: str) -> None:
    assert capitalised(heard, is_english=True) == written


def test_other_languages_begin_with_a_capital() -> None:
    assert capitalised("äpfel und i", is_english=False) == "Äpfel und i"


@pytest.mark.parametrize(("text", "is_it"), [("go on", True), ("Go on", False), ("go on.", False), ("好。", False)])
def test_a_text_with_capitals_or_punctuation_is_written_already(text: str, is_it: bool) -> None:
    assert is_unwritten(text) is is_it
