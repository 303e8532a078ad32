"""What Wyoming's ``transcribe`` asks of the utterance that follows it, as session options.

``context`` is free for the two sides to agree on; here it may hold ``partials``, ``endpoint_silence_ms``, ``itn``,
``punctuation`` and ``commands``, sentence templates of spoken commands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from edge_asr.errors import ProtocolViolation
from edge_asr.requests import MAX_HOTWORD_CHARS, MAX_HOTWORDS

_SILENCE_MS = {"relaxed": 2_000, "aggressive": 600}
"""``vad_sensitivity`` to the silence that closes a segment; anything else leaves the configured one."""


class _Context(msgspec.Struct):
    partials: bool | None = None
    endpoint_silence_ms: int | None = None
    commands: str | None = None
    itn: bool | None = None
    punctuation: bool | None = None


class _Transcribe(msgspec.Struct):
    name: str | None = None
    language: str | None = None
    context: _Context | None = None
    vad_sensitivity: str | None = None
    transcript_names: Sequence[str] | None = None
    transcript_terms: Sequence[str] | None = None


def asked_options(data: Mapping[str, Any]) -> dict[str, Any]:
    """Of the data of a ``transcribe`` event: changes to the session's options.

    Raises:
        ProtocolViolation: A value is of the wrong type.
    """
    try:
        asked = msgspec.convert(data, _Transcribe)
    except msgspec.ValidationError as error:
        raise ProtocolViolation(f"transcribe: {error}") from error
    context = asked.context or _Context()
    changes: dict[str, Any] = {
        "model": asked.name or "",
        "language": asked.language or "",
        "hotwords": _hotwords([*(asked.transcript_names or ()), *(asked.transcript_terms or ())]),
    }
    silence_ms = context.endpoint_silence_ms or _SILENCE_MS.get(asked.vad_sensitivity or "")
    if silence_ms is not None:
        changes["endpoint_silence_ms"] = silence_ms
    given = {name: getattr(context, name) for name in ("commands", "partials", "itn", "punctuation")}
    return changes | {name: value for name, value in given.items() if value is not None}


def _hotwords(words: Sequence[str]) -> list[str]:
    """Names come before terms, and a house may have more of them than are accepted: the first ones are taken."""
    usable = (word.strip() for word in words)
    return [word for word in dict.fromkeys(usable) if 0 < len(word) <= MAX_HOTWORD_CHARS][:MAX_HOTWORDS]
