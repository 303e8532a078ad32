"""Session options in the query of a websocket's URL, for protocols that have no words of their own for them.

::

    ws://board:8765/sherpa?language=en&hotwords=kitchen,living+room&endpoint_silence_ms=600&partials=false
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from edge_asr.errors import ProtocolViolation
from edge_asr.requests import SessionOptions

QUERY_OPTIONS = (
    "channels",
    "commands",
    "endpoint_silence_ms",
    "hotwords",
    "is_live",
    "itn",
    "language",
    "model",
    "partials",
    "punctuation",
    "sample_rate_hz",
    "words",
)
"""Options of the native protocol that may stand there; ``hotwords`` are separated by commas."""


def options_from_query(query: Mapping[str, str], defaults: SessionOptions) -> SessionOptions:
    """The defaults of a protocol, with what the query says instead; other parameters are not ours and are ignored.

    Raises:
        ProtocolViolation: A value cannot be read, or is out of range.
    """
    asked: dict[str, Any] = {name: query[name] for name in QUERY_OPTIONS if name in query}
    if "hotwords" in asked:
        asked["hotwords"] = words_of(asked["hotwords"].split(","))
    try:
        return msgspec.convert({**msgspec.to_builtins(defaults), **asked}, SessionOptions, strict=False)
    except msgspec.ValidationError as error:
        raise ProtocolViolation(f"the query of the URL: {error}") from error


def changed_options(options: SessionOptions, **changes: Any) -> SessionOptions:  # noqa: ANN401
    """The options with some of them replaced, which are looked at as those of a client are.

    Raises:
        ProtocolViolation: A value is of the wrong type, or out of range.
    """
    try:
        return msgspec.convert({**msgspec.to_builtins(options), **changes}, SessionOptions)
    except msgspec.ValidationError as error:
        raise ProtocolViolation(str(error)) from error


def words_of(listed: list[str]) -> list[str]:
    """Words and phrases without the empty ones."""
    return [word.strip() for word in listed if word.strip()]
