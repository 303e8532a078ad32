"""Inverse text normalisation: numbers, dates, money and times in figures, by the language of the text.

English is written by rules of our own; Chinese and Japanese by ``wetext`` (extra ``itn``), whose tables take 43 MB of
memory and are loaded when a text first needs them. Other languages stay as they are.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Sequence
from functools import cache, partial

from edge_asr.errors import ConfigurationError
from edge_asr.languages import primary
from edge_asr.pipeline.chinese_dates import with_dates
from edge_asr.pipeline.english_itn import write_english
from edge_asr.pipeline.scripts import is_han, is_kana

WITH_TABLES = frozenset({"zh", "yue", "ja"})
"""Languages that need ``wetext``."""

LANGUAGES = frozenset({"en"}) | WITH_TABLES

WITHOUT_TABLES = "numbers in Chinese and Japanese need the package wetext; install edge-asr[itn]"


class InverseNormaliser:
    """Writes figures in texts of these languages.

    Args:
        languages: BCP 47 tags of what may be said; where there are several, the script of each text decides.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        self._languages = known(languages)

    def write(self, text: str) -> str:
        """The text with figures."""
        write = _writer(language_of(text, self._languages))
        return write(text) if text else text

    def load(self) -> None:
        """Load what the languages need now rather than with the first text."""
        for language in self._languages:
            _writer(language)("")


def known(languages: Sequence[str]) -> tuple[str, ...]:
    """Those of the languages whose numbers can be written, without their regions."""
    return tuple(dict.fromkeys(language for language in map(primary, languages) if language in LANGUAGES))


def require_tables(languages: Sequence[str]) -> None:
    """See that what the languages need is installed.

    Raises:
        ConfigurationError: It is not.
    """
    if WITH_TABLES.intersection(known(languages)) and importlib.util.find_spec("wetext") is None:
        raise ConfigurationError(WITHOUT_TABLES)


def language_of(text: str, languages: Sequence[str]) -> str:
    """Which of the languages a text is in, by its script; empty for none of them."""
    found = {"ja"} if any(map(is_kana, text)) else WITH_TABLES if any(map(is_han, text)) else {"en"}
    return next((language for language in languages if language in found), "")


@cache
def _writer(language: str) -> Callable[[str], str]:
    if language == "en":
        return write_english
    return partial(_by_tables, _tables(language)) if language in WITH_TABLES else _as_said


@cache
def _tables(language: str) -> Callable[[str], str]:
    from wetext import Normalizer

    write: Callable[[str], str] = Normalizer(lang="ja" if language == "ja" else "zh", operator="itn").normalize
    return write if language == "ja" else partial(with_dates, write=partial(_by_tables, write))


def _by_tables(write: Callable[[str], str], text: str) -> str:
    """The tables lose texts with quotation marks and the like, and fail on control characters: they never see them."""
    return "".join(_piece(write, piece) if _WRITABLE.fullmatch(piece) else piece for piece in _PIECES.findall(text))


def _piece(write: Callable[[str], str], piece: str) -> str:
    return write(piece) or piece


_WRITABLE = re.compile(r"[\w.,%‰°。、，・ー々〇]+")
_PIECES = re.compile(rf"{_WRITABLE.pattern}|[^\w.,%‰°。、，・ー々〇]+")


def _as_said(text: str) -> str:
    return text
