"""Which script a text is written in, as far as writing depends on it. Pure."""

from __future__ import annotations


def stands_alone(char: str) -> bool:
    """Whether the script of ``char`` is written without spaces between words (Han, Kana)."""
    return is_kana(char) or is_han(char)


def is_kana(char: str) -> bool:
    """Hiragana or Katakana."""
    return "\u3040" <= char <= "\u30ff"


def is_han(char: str) -> bool:
    """A Chinese character, as Japanese writes too."""
    return "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff"
