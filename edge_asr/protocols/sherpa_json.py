"""Results as sherpa-onnx's websocket servers write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from edge_asr.events import Final, Partial, Word
from edge_asr.protocols.final_fields import final_fields, joined_fields
from edge_asr.subtitles import joined_text


def online_result(event: Partial | Final, *, is_eof: bool) -> str:
    """One segment so far, or closed: ``start_time`` is the segment's, ``timestamps`` count from there."""
    words = event.words if isinstance(event, Final) else ()
    return _encode(
        {
            "text": event.text,
            "tokens": _tokens(words),
            "timestamps": [round(word.start_s - event.start_s, 2) for word in words],
            "ys_probs": _log_probabilities(words),
            "lm_probs": [],
            "context_scores": [],
            "segment": event.segment,
            "words": [],  # ids in a vocabulary that only the original has
            "start_time": round(event.start_s, 2),
            "is_final": isinstance(event, Final),
            "is_eof": is_eof,
            **(final_fields(event) if isinstance(event, Final) else {}),
        }
    )


def offline_result(finals: Sequence[Final], language: str) -> str:
    """A whole recording."""
    words = [word for final in finals for word in final.words]
    tags = next((final.tags for final in finals if final.tags), {})
    return _encode(
        {
            "lang": tags.get("language", language),
            "emotion": tags.get("emotion", ""),
            "event": tags.get("event", ""),
            "text": joined_text(final.text for final in finals),
            "timestamps": [round(word.start_s, 2) for word in words],
            "durations": [round(word.end_s - word.start_s, 2) for word in words],
            "tokens": _tokens(words),
            "ys_log_probs": _log_probabilities(words),
            "words": [],
            **joined_fields(finals),
        }
    )


def _tokens(words: Sequence[Word]) -> list[str]:
    """Whole words, each with the space before it that token tables give to the beginning of a word."""
    return [f" {word.text}" for word in words]


def _log_probabilities(words: Sequence[Word]) -> list[float]:
    known = [word.confidence for word in words if word.confidence]
    return [round(math.log(confidence), 6) for confidence in known] if len(known) == len(words) else []


def _encode(document: dict[str, Any]) -> str:
    return msgspec.json.encode(document).decode()
