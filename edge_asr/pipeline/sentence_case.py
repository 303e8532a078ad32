"""Capitals for texts that have none: the first word, and in English the names that are always written so. Pure.

Only what is certain: "may" and "march" are words too, and no rule knows the names of people.
"""

from __future__ import annotations

import re

from edge_asr.pipeline.english_numbers import words_of
from edge_asr.pipeline.english_times import AMBIGUOUS_MONTHS, MONTHS, WEEKDAYS

_ALWAYS = (
    WEEKDAYS | MONTHS | words_of("english french german spanish italian chinese japanese american european christmas")
) - AMBIGUOUS_MONTHS
_SHORT = re.compile(r"\b(?:i|i'm|i'll|i've|i'd)(?![\w'])")
_WORD = re.compile(r"[^\W\d_]+")
_FIRST_LETTER = re.compile(r"[^\W\d_]")
_MARKS = re.compile(r"[.?!,;:。，？！、；：]")


def is_unwritten(text: str) -> bool:
    """Whether a text has neither capitals nor punctuation, as models without either write it."""
    return text == text.lower() and not _MARKS.search(text)


def capitalised(text: str, *, is_english: bool) -> str:
    """The text with a capital at its beginning, and in English wherever one always stands."""
    if is_english:
        text = _SHORT.sub(lambda found: found[0].capitalize(), text)
        text = _WORD.sub(lambda found: found[0].capitalize() if found[0] in _ALWAYS else found[0], text)
    return _FIRST_LETTER.sub(lambda found: found[0].upper(), text, count=1)
