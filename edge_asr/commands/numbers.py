"""Numbers as they are said and as they are written: "twelve" and "12" are the same to a listener."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from edge_asr.commands.folding import fold_template
from edge_asr.errors import ConfigurationError

LARGEST_IN_TEXT = 999
"""Numbers in templates are known as words up to here; lists of numbers have their own limits."""

_TAG = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}")


def language_tag(language: object) -> str:
    """A language as a set of commands names it: the rules of its numbers are a file of that name.

    Raises:
        ConfigurationError: It is no tag.
    """
    if isinstance(language, str) and _TAG.fullmatch(language):
        return language
    raise ConfigurationError(f"language {str(language)[:40]!r} is no BCP 47 tag; write one such as `en` or `pt-BR`")


MOST_LANGUAGES = 8
"""Whose rules are kept: sessions may bring sets in any."""


@lru_cache(MOST_LANGUAGES)
def _rules(language: str) -> Any:  # noqa: ANN401  of a library without types
    """How a language says numbers; a ``ValueError`` where that is not known."""
    from hassil import numbers  # with its rules of all languages, only where numbers are

    rules = numbers.get_rbnf_engine(language)
    getattr(numbers, "_ENGINE_CACHE", {}).clear()  # it would keep one for every tag that anybody has ever used
    return rules


@lru_cache(1 << 16)
def spoken(number: float, language: str) -> tuple[str, ...]:
    """The ways to say a number in words, folded; empty where the language is not known.

    Args:
        number: Whole, or with a fraction.
        language: BCP 47 tag.
    """
    try:
        rules = _rules(language).format_number(number).text_by_ruleset
    except ValueError:
        return ()
    named = (text for name, text in rules.items() if "ordinal" not in name and "year" not in name)
    texts = [" ".join(fold_template(text).split()) for text in named if not any(map(str.isdigit, text))]
    if language.startswith("en"):  # the rules know American numbers only
        texts += [text.replace("hundred ", "hundred and ") for text in texts]
    return tuple(dict.fromkeys(texts))


@lru_cache(8)
def number_words(language: str) -> dict[tuple[str, ...], int]:
    """Words that together are a number, to that number."""
    return {tuple(text.split()): number for number in range(LARGEST_IN_TEXT + 1) for text in spoken(number, language)}


def digits(number: float) -> str:
    """Without a fraction where there is none."""
    return str(int(number)) if number == int(number) else str(number)
