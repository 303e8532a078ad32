"""Languages by their BCP 47 tags: regions make no difference to who understands whom."""

from __future__ import annotations

from collections.abc import Collection, Sequence

_ANY = frozenset({"", "auto", "mul", "und"})
"""What says nothing about the language."""


def primary(tag: str) -> str:
    """The language of a tag, without its region."""
    return tag.replace("_", "-").partition("-")[0].lower()


def speaks(languages: Collection[str], language: str) -> bool:
    """Whether a model of these languages understands this one.

    Args:
        languages: Tags; empty where nobody knows.
        language: A tag, or empty for any language.
    """
    known = set(map(primary, languages))
    return primary(language) in _ANY or not known - _ANY or primary(language) in known


def heard_language(asked: str, languages: Sequence[str]) -> str:
    """What a text is in: what was asked for, unless the model does not speak it; empty where nobody knows.

    Args:
        asked: By the client; may be empty.
        languages: Of the model that heard it.
    """
    if primary(asked) not in _ANY and speaks(languages, asked):
        return asked
    return languages[0] if len(languages) == 1 else ""
