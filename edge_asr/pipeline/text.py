"""From tokens to text people read: case, spacing, and words with times and confidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from edge_asr.engines.base import Token
from edge_asr.events import Word
from edge_asr.pipeline.scripts import stands_alone

WORD_MARK = "\u2581"
"""SentencePiece writes the space before a word as this character."""

LONGEST_TOKEN_S = 0.25
"""A token's end is not known; it is the next token's start, but never later than this after its own."""


def tidy(text: str) -> str:
    """Single spaces, none at the ends, no word marks."""
    return " ".join(text.replace(WORD_MARK, " ").split())


def lower(text: str) -> str:
    """For models that only write capitals."""
    return text.lower()


def as_is(text: str) -> str:
    """For models that write as people do, and for those that know no case."""
    return text


CASES: dict[str, Callable[[str], str]] = {"as_is": as_is, "lower": lower}
"""``text_case`` of a manifest to the function that applies it."""


def words_from_tokens(tokens: Sequence[Token], text: str, end_s: float) -> tuple[Word, ...]:
    """Merge tokens into the words of ``text``.

    Args:
        tokens: In order of time.
        text: Tidy text that the tokens spell; where they do not (byte tokens, a rewritten text), the words of the text
            are spread evenly over the tokens' time.
        end_s: No word ends later.

    Returns:
        One word per word of ``text``; times never go back. Characters of scripts written without spaces are words of
        their own when the model has them as tokens.
    """
    if not text:
        return ()
    groups = _group(tokens)
    spelled = ["".join(token.text for token in group).replace(WORD_MARK, " ").strip() for group in groups]
    if "".join(spelled) != text.replace(" ", ""):
        return _spread(tokens, text, end_s)
    ends = [*(group[0].start_s for group in groups[1:]), end_s]
    return tuple(
        Word(
            spelling,
            group[0].start_s,
            max(group[0].start_s, min(group[-1].start_s + LONGEST_TOKEN_S, limit)),
            _confidence(group),
        )
        for spelling, group, limit in zip(spelled, groups, ends, strict=True)
    )


def _group(tokens: Sequence[Token]) -> list[list[Token]]:
    groups: list[list[Token]] = []
    for token in tokens:
        if not token.text.strip(WORD_MARK + " ") and not token.text.startswith((" ", WORD_MARK)):
            continue
        if not groups or _begins_word(token.text, groups[-1]):
            groups.append([token])
        else:
            groups[-1].append(token)
    return [group for group in groups if any(token.text.strip(WORD_MARK + " ") for token in group)]


def _begins_word(text: str, before: Sequence[Token]) -> bool:
    if not any(token.text.strip(WORD_MARK + " ") for token in before):
        return False  # a lone word mark begins the word that follows it
    return text.startswith((" ", WORD_MARK)) or stands_alone(text[0]) or stands_alone(before[-1].text[-1])


def _confidence(group: Sequence[Token]) -> float | None:
    known = [token.log_prob for token in group if token.log_prob is not None]
    if not known:
        return None
    return math.exp(min(0.0, sum(known) / len(known)))


def _spread(tokens: Sequence[Token], text: str, end_s: float) -> tuple[Word, ...]:
    spellings = text.split()
    begin = tokens[0].start_s if tokens else end_s
    last = max(begin, min(end_s, tokens[-1].start_s + LONGEST_TOKEN_S)) if tokens else end_s
    step = (last - begin) / len(spellings)
    return tuple(
        Word(spelling, begin + index * step, begin + (index + 1) * step) for index, spelling in enumerate(spellings)
    )
