"""English numbers, dates, money and times as people write them: "at half past three" is "at 3:30". Pure.

What could mean two things stays as it was said: "ten to six", "twenty four seven", "a twenty second timer". Numbers
below ten stay words unless a unit, a currency or other figures stand with them; words that say no number are never
touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from edge_asr.pipeline.english_amounts import cardinal, decimal, measure, money, ordinal, signed
from edge_asr.pipeline.english_numbers import (
    NUMBER_WORDS,
    ORDINAL_TENS,
    Read,
    read_digits,
    word_at,
    words_of,
)
from edge_asr.pipeline.english_times import clock, date, day_of_month, decade, past_or_to, year

_TOP_LEVEL = words_of("com org net edu gov io dev")


@dataclass(frozen=True, slots=True)
class _Word:
    said: str
    """As it stands in the text."""
    core: str
    """In lower case, without the punctuation around it."""
    before: str
    after: str
    joint: str
    """What stands between it and the word before: a space, a hyphen, or nothing at the beginning."""


def write_english(text: str) -> str:
    """The text with figures; everything else stays as it is, punctuation and capitals too."""
    words = list(_words(text))
    written: list[str] = []
    begin = 0
    while begin < len(words):
        end = begin + 1
        while end < len(words) and not words[end - 1].after and not words[end].before:
            end += 1
        written += _write_clause(words[begin:end])
        begin = end
    return "".join(written)


def _words(text: str) -> Iterator[_Word]:
    joint = ""
    for said in text.split():
        parts = said.split("-")
        if len(parts) == 1 or not all(part.lower().strip(_MARKS) in _HYPHENATED for part in parts):
            parts = [said]
        for part in parts:
            core = part.strip(_MARKS)
            before, _, after = part.partition(core) if core else ("", "", part)
            yield _Word(part, core.lower(), before, after, joint)
            joint = "-"
        joint = " "


_MARKS = "".join(sign for sign in map(chr, range(33, 127)) if not sign.isalnum() and sign not in "$#@%&'+") + "…“”‘’"
_HYPHENATED = (
    NUMBER_WORDS
    | ORDINAL_TENS.keys()
    | words_of("and point a first second third fourth fifth sixth seventh eighth ninth")
)
"""Parts of compounds that are numbers."""


def _write_clause(words: Sequence[_Word]) -> Iterator[str]:
    cores = [word.core for word in words]
    at = 0
    while at < len(words):
        found = _read(cores, at)
        said = words[at : at + 1] if found is None else words[at : found.end]
        yield said[0].joint
        if found is None or not found.value:
            yield said[0].said + "".join(word.joint + word.said for word in said[1:])
        else:
            after = said[-1].after.removeprefix(".") if found.value.endswith(".") else said[-1].after
            yield said[0].before + found.value + after
        at += len(said)


def _read(words: Sequence[str], at: int) -> Read[str] | None:
    """What begins here, by the first rule that knows it; an empty text is as it was said."""
    return next((found for rule in _RULES if (found := rule(words, at))), None)


def _address(words: Sequence[str], at: int) -> Read[str] | None:
    """``w w w dot example dot com``."""
    is_www = list(words[at : at + 3]) == ["w", "w", "w"]
    name, end = ("www", at + 3) if is_www else (words[at], at + 1)
    while word_at(words, end) == "dot" and word_at(words, end + 1):
        name, end = f"{name}.{words[end + 1]}", end + 2
    return Read(name, end) if "." in name and name.rpartition(".")[2] in _TOP_LEVEL else None


_RULES: tuple[Callable[[Sequence[str], int], Read[str] | None], ...] = (
    past_or_to,
    clock,
    date,
    day_of_month,
    money,
    measure,
    decade,
    _address,
    read_digits,
    decimal,
    signed,
    year,
    ordinal,
    cardinal,
)
"""The first one that reads something is right."""
