"""OpenAI's realtime API for transcription, ``/v1/realtime?intent=transcription``. See ``docs/realtime-protocol.md``.

::

                                                  ← session.created
    → session.update                              ← session.updated
    → input_audio_buffer.append …                 ← input_audio_buffer.speech_started
                                                  ← conversation.item.input_audio_transcription.delta …
                                                  ← input_audio_buffer.speech_stopped
                                                  ← input_audio_buffer.committed, conversation.item.added, .done
                                                  ← conversation.item.input_audio_transcription.completed
    → input_audio_buffer.commit                   ← input_audio_buffer.committed … .completed   (always one of each)
    → input_audio_buffer.clear                    ← input_audio_buffer.cleared

An item is what lies between two commits, the client's or, with turn detection, ours. A recogniser's session begins with
the first audio of the buffer and ends with the client's commit; what is wrong with one event does not end the
connection.
"""

from __future__ import annotations

import binascii
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from edge_asr.errors import EdgeAsrError, ProtocolViolation
from edge_asr.events import Failed, Final, Partial, SessionEnded, TranscriptEvent
from edge_asr.protocols.append_only import AppendOnlyText
from edge_asr.protocols.base import Conversation, Handshake, Message, object_with_type
from edge_asr.protocols.final_fields import joined_fields
from edge_asr.protocols.openai import fault, log_probabilities, served_model
from edge_asr.protocols.query import options_from_query
from edge_asr.protocols.realtime_session import new_session, updated
from edge_asr.requests import Audio, Discard, Finish, Open, Ping, Request, SessionOptions
from edge_asr.workers.messages import Ready

_TRANSCRIPTION = "conversation.item.input_audio_transcription"
_BETA_HEADER = "openai-beta"


@dataclass(slots=True)
class _Item:
    """One turn."""

    id: str
    text: AppendOnlyText = field(default_factory=AppendOnlyText)
    finals: list[Final] = field(default_factory=list)
    is_committed: bool = False
    start_s: float | None = None
    end_s: float = 0.0


class RealtimeConversation(Conversation):
    """The server's side of one connection."""

    protocol = "realtime"
    may_rest = True

    def __init__(self, handshake: Handshake | None = None) -> None:
        """Start a conversation.

        Raises:
            ProtocolViolation: The query of the URL asks for what there is not.
        """
        handshake = handshake or Handshake()
        query = {**handshake.query, "model": served_model(handshake.query.get("model", ""))}
        self._session = new_session(options_from_query(query, SessionOptions()))
        self._id = f"sess_{uuid.uuid4().hex[:16]}"
        self._is_beta = "realtime" in handshake.headers.get(_BETA_HEADER, "")
        self._is_over = False
        self._events = 0
        self._outbox: list[str] = []
        self._options: SessionOptions | None = None
        """Of the recogniser's session that takes audio; ``None`` while there is none."""
        self._sends_partials = False
        self._item: _Item | None = None
        self._items = 0
        self._recogniser_session = ""
        self._previous_item: str | None = None
        self._heard_bytes = 0
        self._audio_s = 0.0
        """Of the sessions before this one: times count from the beginning of the connection."""

    @property
    def is_over(self) -> bool:
        """A refusal ended the conversation."""
        return self._is_over

    def greeting(self) -> Iterator[Message]:
        """``session.created``."""
        kind = "transcription_session.created" if self._is_beta else "session.created"
        yield self._event(kind, session=self._session.shown(self._id, is_beta=self._is_beta))

    # Client to server

    def receive(self, message: Message) -> Iterator[Request]:
        """One websocket message."""
        event_id = None
        try:
            fields = _parse(message)
            event_id = fields.get("event_id")
            yield from self._requests_of(fields)
        except ProtocolViolation as violation:
            self._outbox.append(self._error(violation, event_id))
            yield Ping()

    def end_of_input(self) -> Iterator[Request]:
        """No more audio comes: what is in the buffer is a turn."""
        if self._options is not None:
            yield from self._commit()

    def _requests_of(self, fields: dict[str, Any]) -> Iterator[Request]:
        match fields["type"]:
            case "input_audio_buffer.append":
                yield from self._append(fields.get("audio"))
            case "input_audio_buffer.commit":
                yield from self._commit()
            case "input_audio_buffer.clear":
                yield from self._clear()
            case "session.update" | "transcription_session.update" as kind:
                yield from self._update(kind, fields.get("session"))
            case kind:
                raise ProtocolViolation(f"type: {kind!r} is not served here; this is a transcription session")

    def _append(self, audio: object) -> Iterator[Request]:
        samples = _decoded(audio)
        if self._options is None:
            options = self._session.session_options()
            yield Open(options)  # the turn before is answered first
            self._options, self._heard_bytes = options, 0
        self._heard_bytes += len(samples)
        yield Audio(samples)

    def _commit(self) -> Iterator[Request]:
        if self._options is None:
            raise ProtocolViolation("the input audio buffer is empty; append audio before the commit")
        self._options = None
        item = self._open_item()
        self._outbox += self._committed(item)
        yield Ping()
        yield Finish()

    def _clear(self) -> Iterator[Request]:
        self._outbox.append(self._event("input_audio_buffer.cleared"))
        if self._options is not None:
            self._end_audio(self._options)
            self._options, self._item = None, None
            yield Discard()
        yield Ping()

    def _update(self, kind: str, asked: object) -> Iterator[Request]:
        before, after = self._session, updated(self._session, asked)
        is_other_audio = (after.format_name, after.rate_hz) != (before.format_name, before.rate_hz)
        if is_other_audio and self._options is not None:
            raise ProtocolViolation("the audio format cannot change within a turn; commit or clear the buffer first")
        self._session = after
        if kind == "transcription_session.update":
            self._is_beta = True
        answer = "transcription_session.updated" if self._is_beta else "session.updated"
        self._outbox.append(self._event(answer, session=after.shown(self._id, is_beta=self._is_beta)))
        yield Ping()

    # Server to client

    def answered(self, ping: Ping) -> Iterator[Message]:  # noqa: ARG002
        """What an event of the client is answered with at once."""
        messages, self._outbox = self._outbox, []
        yield from messages

    def opened(self, session_id: str, ready: Ready) -> Iterator[Message]:
        """Nothing is said yet."""
        self._recogniser_session = session_id
        self._sends_partials = ready.is_append_only
        yield from ()

    def deliver(self, event: TranscriptEvent) -> Iterator[Message]:
        """Turns, and pieces of their text."""
        if isinstance(event, Partial):
            yield from self._hear_partial(event)
        elif isinstance(event, Final):
            yield from self._hear_final(event)
        elif isinstance(event, SessionEnded):
            yield from self._end_session(event)
        elif isinstance(event, Failed):
            yield from self._fail(event)

    def refused(self, error: EdgeAsrError) -> Iterator[Message]:
        """``error``."""
        self._is_over = True
        yield self._error(error, None)

    def _hear_partial(self, partial: Partial) -> Iterator[Message]:
        if partial.text:
            yield from self._start_speech(partial.start_s)
            if self._sends_partials:
                yield from self._delta(partial)

    def _hear_final(self, final: Final) -> Iterator[Message]:
        yield from self._start_speech(final.start_s)
        item = self._open_item()
        item.end_s = self._audio_s + final.end_s
        item.finals.append(final)
        yield from self._delta(final)
        if self._session.turn_detection is not None and not item.is_committed:
            end_ms = round(item.end_s * 1000)
            yield self._event("input_audio_buffer.speech_stopped", audio_end_ms=end_ms, item_id=item.id)
            yield from self._committed(item)
            yield self._completed(item)

    def _start_speech(self, start_s: float) -> Iterator[Message]:
        item = self._open_item()
        if item.start_s is not None:
            return
        item.start_s = self._audio_s + start_s
        if self._session.turn_detection is not None and not item.is_committed:
            start_ms = round(item.start_s * 1000)
            yield self._event("input_audio_buffer.speech_started", audio_start_ms=start_ms, item_id=item.id)

    def _delta(self, event: Partial | Final) -> Iterator[Message]:
        item = self._open_item()
        piece = item.text.take(event)
        if piece:
            yield self._event(f"{_TRANSCRIPTION}.delta", item_id=item.id, content_index=0, delta=piece)

    def _end_session(self, ended: SessionEnded) -> Iterator[Message]:
        if self._item is not None:
            self._item.end_s = max(self._item.end_s, self._audio_s + ended.audio_s)
            yield self._completed(self._item)
        self._options = None
        self._audio_s += ended.audio_s

    def _fail(self, failed: Failed) -> Iterator[Message]:
        if self._options is not None:
            self._end_audio(self._options)
            self._options = None
        error = fault(failed.message, failed.code)
        if self._item is None:
            yield self._event("error", error={**error, "event_id": None})
            return
        yield self._event(f"{_TRANSCRIPTION}.failed", item_id=self._item.id, content_index=0, error=error)
        self._item = None

    # Items

    def _open_item(self) -> _Item:
        if self._item is None:
            self._item = _Item(f"item_{self._recogniser_session}_{self._items}")
            self._items += 1
        return self._item

    def _committed(self, item: _Item) -> list[str]:
        item.is_committed = True
        before, self._previous_item = self._previous_item, item.id
        content = [{"type": "input_audio", "transcript": None}]
        shown = {"id": item.id, "object": "realtime.item", "type": "message", "status": "completed", "role": "user"}
        placed = {"previous_item_id": before, "item": {**shown, "content": content}}
        kinds = (
            ("conversation.item.created",) if self._is_beta else ("conversation.item.added", "conversation.item.done")
        )
        return [
            self._event("input_audio_buffer.committed", item_id=item.id, previous_item_id=before),
            *(self._event(kind, **placed) for kind in kinds),
        ]

    def _completed(self, item: _Item) -> str:
        self._item = None
        start_s = self._audio_s if item.start_s is None else item.start_s
        more: dict[str, Any] = {"logprobs": _logprobs(item.finals)} if self._session.has_logprobs else {}
        more |= joined_fields(item.finals)
        return self._event(
            f"{_TRANSCRIPTION}.completed",
            item_id=item.id,
            content_index=0,
            transcript=item.text.whole,
            usage={"type": "duration", "seconds": round(max(0.0, item.end_s - start_s), 3)},
            **more,
        )

    def _end_audio(self, options: SessionOptions) -> None:
        self._audio_s += self._heard_bytes / options.bytes_per_second

    # Events

    def _event(self, kind: str, **fields: Any) -> str:  # noqa: ANN401
        self._events += 1
        return msgspec.json.encode({"type": kind, "event_id": f"event_{self._events}", **fields}).decode()

    def _error(self, error: EdgeAsrError, event_id: object) -> str:
        known = fault(str(error), error.code)
        return self._event("error", error={**known, "event_id": event_id if isinstance(event_id, str) else None})


def _parse(message: Message) -> dict[str, Any]:
    if isinstance(message, bytes):
        raise ProtocolViolation("audio is sent as base64 in input_audio_buffer.append, not in binary messages")
    return object_with_type(message, "an event")


def _decoded(audio: object) -> bytes:
    if not isinstance(audio, str):
        raise ProtocolViolation("audio: input_audio_buffer.append needs base64 text")
    try:
        return binascii.a2b_base64(audio, strict_mode=True)
    except (binascii.Error, ValueError) as error:
        raise ProtocolViolation(f"audio: this is not base64: {error}") from error


def _logprobs(finals: Sequence[Final]) -> list[dict[str, Any]]:
    return log_probabilities(word for final in finals for word in final.words)
