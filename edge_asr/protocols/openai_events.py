"""OpenAI's transcription as server-sent events, ``stream=true``: pieces of text while they are recognised.

::

    data: {"type":"transcript.text.delta","delta":"go for"}
    data: {"type":"transcript.text.delta","delta":"ward"}
    data: {"type":"transcript.text.done","text":"go forward"}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from edge_asr.events import Failed, Final, Partial, SessionEnded, TranscriptEvent
from edge_asr.protocols.append_only import AppendOnlyText
from edge_asr.protocols.final_fields import as_heard
from edge_asr.protocols.openai import TranscriptionRequest, fault, log_probabilities

MEDIA_TYPE = "text/event-stream"


class TranscriptStream:
    """One answer: the deltas are the text of ``done``, cut into pieces."""

    def __init__(self, request: TranscriptionRequest, *, is_append_only: bool) -> None:
        """Begin an answer; a model that rewrites what it said is heard only where it is final."""
        self._has_logprobs = request.has_logprobs
        self._is_append_only = is_append_only
        self._text = AppendOnlyText()
        self._finals: list[Final] = []

    def take(self, event: TranscriptEvent) -> Iterator[bytes]:
        """What an event of the session is to the client."""
        if isinstance(event, Final):
            self._finals.append(event)
            yield from self._delta(event)
        elif isinstance(event, Partial) and self._is_append_only:
            yield from self._delta(event)
        elif isinstance(event, SessionEnded):
            more = {"logprobs": self._logprobs(self._finals)} if self._has_logprobs else {}
            yield _event({"type": "transcript.text.done", "text": self._text.whole, **more, **as_heard(self._finals)})
        elif isinstance(event, Failed):
            yield b"event: error\n" + _event({"error": fault(event.message, event.code)})

    def _delta(self, event: Partial | Final) -> Iterator[bytes]:
        piece = self._text.take(event)
        if not piece:
            return
        more = {"logprobs": self._logprobs([event])} if self._has_logprobs and isinstance(event, Final) else {}
        yield _event({"type": "transcript.text.delta", "delta": piece, **more})

    def _logprobs(self, finals: list[Final]) -> list[dict[str, Any]]:
        return log_probabilities(word for final in finals for word in final.words)


def _event(fields: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(fields) + b"\n\n"
