"""Names of files as text: Linux takes any bytes for a name, and JSON, logs and terminals do not. Pure.

Python holds bytes that are no UTF-8 as lone surrogates, which nothing can encode.
"""

from __future__ import annotations

import os
from urllib.parse import quote_from_bytes, unquote_to_bytes

_QUOTED = "\0"
"""Begins a text that holds a name in quotes; no name has it."""


def readable(name: str) -> str:
    """The name for people and in documents, bytes that are no UTF-8 as ``\\xff``."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def to_text(name: str) -> str:
    """The name as text that can be encoded; :func:`from_text` makes the same name of it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return _QUOTED + quote_from_bytes(os.fsencode(name))
    return name


def from_text(text: str) -> str:
    """The name again."""
    return os.fsdecode(unquote_to_bytes(text[1:])) if text.startswith(_QUOTED) else text
