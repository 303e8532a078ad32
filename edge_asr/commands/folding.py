"""Texts without what nobody hears: case, accents, hyphens, the marks between words."""

from __future__ import annotations

import re
import unicodedata

FREE_MARKS = frozenset(",.!?")
"""May stand behind any word."""

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "`": "'"})
_BETWEEN_WORDS = str.maketrans({"-": " ", "_": " ", "\u2013": " ", "\u2014": " ", "/": " "})
_UNHEARD = re.compile(r"(?<!\d)[.,]|[.,](?!\d)|[!?;:\"\u201c\u201d\u00a1\u00bf\u2026]")


def fold(text: str) -> str:
    """Small letters without accents; everything else as it is."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES).casefold())
    return unicodedata.normalize("NFC", "".join(filter(_is_heard, decomposed)))


def fold_template(text: str) -> str:
    """A text of a template: folded, hyphens as spaces, no marks; spaces at its ends are kept."""
    return re.sub(r"\s+", " ", _UNHEARD.sub("", fold(text).translate(_BETWEEN_WORDS)))


def _is_heard(letter: str) -> bool:
    # Marks of scripts that are not Latin change the sound (Japanese, Hindi): only those of letters go.
    return not ("\u0300" <= letter <= "\u036f")
