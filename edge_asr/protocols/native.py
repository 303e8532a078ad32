"""The native websocket protocol, ``/v1/stream``: hello, audio frames, events as JSON. See ``docs/native-protocol.md``.

Text messages are JSON objects with a ``type``; binary messages are audio. One connection carries one session.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from edge_asr.errors import EdgeAsrError, ProtocolViolation
from edge_asr.events import Failed, SessionEnded, TranscriptEvent
from edge_asr.protocols.base import Conversation, Message, object_with_type
from edge_asr.requests import Audio, Describe, Finish, Flush, Open, Ping, Request, SessionOptions
from edge_asr.workers.base import PoolStatus
from edge_asr.workers.messages import Ready

VERSION = 1
"""Raised when a client of the version before would misread a message."""

_MESSAGE_FIELDS: dict[str, tuple[str, ...]] = {
    "hello": SessionOptions.__struct_fields__,
    "flush": (),
    "finish": (),
    "describe": (),
    "ping": ("text",),
}
"""Type of a client's text message to the fields it may have."""


class SessionReady(msgspec.Struct, frozen=True, tag="ready", tag_field="type"):
    """Answer to the hello: the session is open and audio may come."""

    protocol: int
    session_id: str
    model: str
    languages: tuple[str, ...]
    provider: str
    """The provider that really runs the model."""
    sample_rate_hz: int
    """Rate of the model; audio of any other rate is resampled."""
    chunk_ms: float
    """Audio per decoding step; 0 for models that decode whole stretches of speech."""
    is_streaming: bool
    is_append_only: bool
    """Whether ``stable_chars`` of partials is a promise."""


class Description(msgspec.Struct, frozen=True, tag="description", tag_field="type"):
    """Answer to ``describe``."""

    protocol: int
    state: str
    reason: str
    model: str
    languages: tuple[str, ...]
    sessions: int
    max_sessions: int


class Pong(msgspec.Struct, frozen=True, tag="pong", tag_field="type"):
    """Answer to ``ping``."""

    text: str


def hello(options: SessionOptions) -> str:
    """The first message of a client."""
    return msgspec.json.encode({"type": "hello", **msgspec.to_builtins(options)}).decode()


def control(kind: Literal["flush", "finish", "describe"]) -> str:
    """A message of a client that has no more than its type."""
    return msgspec.json.encode({"type": kind}).decode()


def parse_server_message(message: str) -> SessionReady | Description | Pong | TranscriptEvent:
    """What a server said, for clients.

    Raises:
        ProtocolViolation: It is not a message of this protocol.
    """
    try:
        return _SERVER_MESSAGE.decode(message)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProtocolViolation(f"the server sent what is not a message of this protocol: {error}") from error


_SERVER_MESSAGE: msgspec.json.Decoder[SessionReady | Description | Pong | TranscriptEvent] = msgspec.json.Decoder(
    SessionReady | Description | Pong | TranscriptEvent
)


LONGEST_NAME = 40
"""Characters of a client's own word that are repeated to it."""


class NativeConversation(Conversation):
    """The server's side of one connection."""

    protocol = "native"

    def __init__(self) -> None:
        self._state: Literal["hello", "audio", "finishing", "over"] = "hello"

    @property
    def is_over(self) -> bool:
        """The session has ended, or was refused."""
        return self._state == "over"

    def receive(self, message: Message) -> Iterator[Request]:
        """One websocket message."""
        if isinstance(message, bytes):
            yield self._audio(message)
            return
        fields = object_with_type(message, "a text message")
        kind = fields.pop("type")
        if kind not in _MESSAGE_FIELDS:
            raise ProtocolViolation(f"unknown message type {_cut(kind)}{_suggestion(kind, tuple(_MESSAGE_FIELDS))}")
        _reject_unknown(kind, fields, _MESSAGE_FIELDS[kind])
        if kind == "hello":
            yield self._hello(fields)
        elif not (self._state in ("finishing", "over") and kind in ("flush", "finish")):  # said twice, it harms nobody
            yield self._control(kind, fields)

    def end_of_input(self) -> Iterator[Request]:
        """The client sends no more: what was said is still delivered."""
        if self._state == "audio":
            self._state = "finishing"
            yield Finish()

    def opened(self, session_id: str, ready: Ready) -> Iterator[Message]:
        """``ready``."""
        yield _encode(
            SessionReady(
                protocol=VERSION,
                session_id=session_id,
                model=ready.model,
                languages=ready.languages,
                provider=ready.provider,
                sample_rate_hz=ready.sample_rate_hz,
                chunk_ms=ready.chunk_ms,
                is_streaming=ready.is_streaming,
                is_append_only=ready.is_append_only,
            )
        )

    def deliver(self, event: TranscriptEvent) -> Iterator[Message]:
        """Every event as it is."""
        if isinstance(event, SessionEnded | Failed):
            self._state = "over"
        yield _encode(event)

    def described(self, status: PoolStatus) -> Iterator[Message]:
        """``description``."""
        model, languages = (status.ready.model, status.ready.languages) if status.ready else ("", ())
        yield _encode(
            Description(VERSION, status.state, status.reason, model, languages, status.sessions, status.max_sessions)
        )

    def answered(self, ping: Ping) -> Iterator[Message]:
        """``pong``."""
        yield _encode(Pong(ping.text))

    def refused(self, error: EdgeAsrError) -> Iterator[Message]:
        """``failed``, without a session."""
        self._state = "over"
        yield _encode(Failed("", error.code, str(error), error.is_retryable, error.retry_after_s))

    def _hello(self, fields: dict[str, Any]) -> Open:
        if self._state != "hello":
            raise ProtocolViolation("a second hello; one connection carries one session, open another connection")
        try:
            options = msgspec.convert(fields, SessionOptions)
        except msgspec.ValidationError as error:
            raise ProtocolViolation(f"hello: {_plain(error)}") from error
        self._state = "audio"
        return Open(options)

    def _audio(self, frame: bytes) -> Audio:
        self._expect_audio_state("audio")
        return Audio(frame)

    def _control(self, kind: str, fields: dict[str, Any]) -> Request:
        if kind == "ping":
            return Ping(_text_of(fields))
        if kind == "describe":
            return Describe()
        self._expect_audio_state(kind)
        if kind == "flush":
            return Flush()
        self._state = "finishing"
        return Finish()

    def _expect_audio_state(self, what: str) -> None:
        if self._state == "hello":
            raise ProtocolViolation(f"{what} before the hello; send a text message with type 'hello' first")
        if self._state != "audio":
            raise ProtocolViolation(f"{what} after finish; the session takes nothing more")


def _reject_unknown(kind: str, fields: dict[str, Any], known: tuple[str, ...]) -> None:
    for name in fields:
        if name not in known:
            raise ProtocolViolation(f"{kind}: unknown field {_cut(name)}{_suggestion(name, known)}")


def _cut(name: str) -> str:
    """A client's word as a sentence quotes it: the sentence goes into the log, so the client must not fill it."""
    return repr(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…")


def _suggestion(name: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name[:LONGEST_NAME], known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known are: {', '.join(known)}" if known else ""


def _plain(error: msgspec.ValidationError) -> str:
    # msgspec writes "Expected `int`, got `str` - at `$.sample_rate_hz`".
    reason, separator, path = str(error).partition(" - at `$.")
    return f"{path.rstrip('`')}: {reason}" if separator else reason


def _text_of(fields: dict[str, Any]) -> str:
    text = fields.get("text", "")
    if not isinstance(text, str):
        raise ProtocolViolation("ping: text must be a string")
    return text


def _encode(message: msgspec.Struct) -> str:
    return msgspec.json.encode(message).decode()
