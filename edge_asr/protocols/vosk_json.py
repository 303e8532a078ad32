"""JSON as Vosk writes it: spaces around the colon, two of indentation, six decimals, keys in order of the alphabet.

Some of its clients look for ``"partial" : ""`` in the text instead of parsing it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

_TAB = "  "


def vosk_json(value: Mapping[str, Any]) -> str:
    """A document of any JSON values."""
    return _dump(value, 1)


def _dump(value: Any, depth: int) -> str:  # noqa: ANN401  any JSON value
    if isinstance(value, Mapping):
        pad = _TAB * depth
        entries = (f"{pad}{_text(name)} : {_dump(value[name], depth + 1)}" for name in sorted(value))
        return "{\n" + ",\n".join(entries) + "\n" + _TAB * (depth - 1) + "}"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Sequence):
        return "[" + ", ".join(_dump(entry, depth + 1) for entry in value) + "]"
    if isinstance(value, float):
        return f"{value:.6f}"
    return msgspec.json.encode(value).decode()  # slots of spoken commands may be of other kinds


def _text(text: str) -> str:
    return msgspec.json.encode(text).decode()
