"""Lists of hotwords: words and phrases to be expected, one a line, as people write them.

::

    # names in this house
    Dashwood
    coffee machine :3.0

A line that begins with ``#`` is a comment, and `` :3.0`` at the end of one is the boost of its phrase. What cannot be
used is said with the number of its line, and the rest of the list is used all the same: the native engine would end the
process on some mistakes and pass over the others in silence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from edge_asr.engines.base import Hotword, TokenBias
from edge_asr.errors import ConfigurationError
from edge_asr.requests import MAX_HOTWORD_CHARS
from edge_asr.settings import MAX_HOTWORDS_SCORE, MIN_HOTWORDS_SCORE

MOST_HOTWORDS = 2_000
"""Of one list: each new stream makes a graph of them, 2,000 in 20 ms (x86-64, 2026-11)."""

SHOWN = 5
"""Mistakes that are told one by one; the others are counted."""

Spell = Callable[[str], tuple[int, ...]]
"""A phrase to the ids of its tokens; a ``ConfigurationError`` says why there are none."""


@dataclass(frozen=True, slots=True)
class HotwordList:
    """What became of a list."""

    hotwords: tuple[Hotword, ...] = ()
    mistakes: tuple[str, ...] = ()
    """One sentence for each line that was skipped, beginning with its number."""
    bias: TokenBias | None = None
    """The same for models that are decoded by a search of our own."""
    standing: int = 0
    """How many of the hotwords the list did not bring: the configured ones, which a session has anyway."""

    @property
    def account(self) -> str:
        """How many are used and how many not, and why; one line."""
        loaded = f"hotwords: {len(self.hotwords) - self.standing} loaded"
        if not self.mistakes:
            return loaded
        told = "; ".join(self.mistakes[:SHOWN])
        more = f"; and {len(self.mistakes) - SHOWN} more" if len(self.mistakes) > SHOWN else ""
        return f"{loaded}, {len(self.mistakes)} skipped: {told}{more}"


def read_hotwords(lines: Iterable[str], spell: Spell, default_boost: float, numbered: str = "line") -> HotwordList:
    """Every phrase of a list that can be used; of two with the same tokens, the later one counts.

    Args:
        lines: One phrase each; empty lines and comments are passed over.
        spell: How the model writes a phrase.
        default_boost: Of phrases without one, natural logarithm for each token.
        numbered: What the numbers in mistakes count.
    """
    boosts: dict[tuple[int, ...], float] = {}
    mistakes: list[str] = []
    for number, line in enumerate(lines, 1):
        text = line.removeprefix("\ufeff").strip()
        if not text or text.startswith("#"):
            continue
        try:
            phrase, boost = split_boost(text, default_boost)
            tokens = spell(phrase)
        except ConfigurationError as error:
            mistakes.append(f"{numbered} {number}: {error}")
            continue
        if tokens in boosts or len(boosts) < MOST_HOTWORDS:
            boosts[tokens] = boost
        else:
            mistakes.append(f"{numbered} {number}: {MOST_HOTWORDS} hotwords are loaded already, and more are not")
    return HotwordList(tuple(Hotword(tokens, boost) for tokens, boost in boosts.items()), tuple(mistakes))


def split_boost(text: str, default_boost: float) -> tuple[str, float]:
    """A line's phrase, white space made one space, and its boost.

    Raises:
        ConfigurationError: There is no phrase, it is too long, or the boost is no number in its range.
    """
    *words, last = text.split()
    boost = default_boost
    if last.startswith(":"):
        boost = _boost(last[1:])
    else:
        words.append(last)
    phrase = " ".join(words)
    if not phrase:
        raise ConfigurationError("there is a boost and no phrase before it")
    if len(phrase) > MAX_HOTWORD_CHARS:
        raise ConfigurationError(f"a phrase of {len(phrase)} characters; at most {MAX_HOTWORD_CHARS} are accepted")
    return phrase, boost


def _boost(text: str) -> float:
    try:
        boost = float(text)
    except ValueError:
        boost = math.nan
    if not MIN_HOTWORDS_SCORE <= boost <= MAX_HOTWORDS_SCORE:
        raise ConfigurationError(
            f"the boost {text[:20]!r} is no number from {MIN_HOTWORDS_SCORE:g} to {MAX_HOTWORDS_SCORE:g}"
        )
    return boost
