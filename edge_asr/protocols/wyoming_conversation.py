"""Wyoming speech recognition: which event may come when, and what is answered.

::

    → describe                                    ← info
    → transcribe, audio-start, audio-chunk …, audio-stop
                                                  ← transcript-start, transcript-chunk …   (append-only models)
                                                  ← transcript                             (always exactly one)
                                                  ← transcript-stop                        (append-only models)
    → ping                                        ← pong
                                                  ← error, and the connection is closed

A transcript is sent also when nothing was said (empty text); an error only when something went wrong. Another
utterance may follow on the same connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from edge_asr import __version__
from edge_asr.errors import EdgeAsrError, ProtocolViolation
from edge_asr.events import Failed, Final, Partial, SessionEnded, TranscriptEvent
from edge_asr.languages import heard_language
from edge_asr.protocols.append_only import AppendOnlyText
from edge_asr.protocols.base import Conversation, Message
from edge_asr.protocols.final_fields import joined_fields
from edge_asr.protocols.query import changed_options
from edge_asr.protocols.wyoming import WyomingDecoder, WyomingEvent, encode_event
from edge_asr.protocols.wyoming_transcribe import asked_options
from edge_asr.requests import Audio, Describe, Encoding, Finish, Open, Ping, Request, SessionOptions
from edge_asr.workers.base import OfferedModel, PoolStatus
from edge_asr.workers.messages import Ready

_ENCODING_OF_WIDTH: dict[int, Encoding] = {1: "u8", 2: "s16le", 3: "s24le", 4: "s32le"}
_FORMAT_KEYS = ("rate", "width", "channels")
_ENGINE = {"name": "sherpa-onnx", "url": "https://github.com/k2-fsa/sherpa-onnx"}


class WyomingConversation(Conversation):
    """The server's side of one connection."""

    protocol = "wyoming"

    def __init__(self, max_event_bytes: int, can_stream: Callable[[], bool]) -> None:
        """Start a conversation.

        Args:
            max_event_bytes: Largest event accepted.
            can_stream: Whether the model loaded now settles text as it goes (else partials are not asked for).
        """
        self._decoder = WyomingDecoder(max_event_bytes)
        self._can_stream = can_stream
        self._input: Literal["idle", "listening", "finishing", "over"] = "idle"
        self._transcribe: dict[str, Any] = {}
        self._format: tuple[int, int, int] | None = None
        self._asked_language = ""
        self._output = _Transcript("", is_streamed=False)

    @property
    def is_over(self) -> bool:
        """An error ended the conversation."""
        return self._input == "over"

    # Client to server

    def receive(self, message: Message) -> Iterator[Request]:
        """Bytes of the connection, cut anywhere."""
        data = message.encode() if isinstance(message, str) else message
        for event in self._decoder.feed(data):
            yield from self._requests_of(event)

    def end_of_input(self) -> Iterator[Request]:
        """The end of the connection is the end of the audio, unless it cuts an event in two."""
        if not self._decoder.is_between_events:
            raise ProtocolViolation("the connection ended in the middle of an event")
        yield from self._stop()

    def _requests_of(self, event: WyomingEvent) -> Iterator[Request]:
        match event.type:
            case "describe":
                yield Describe()
            case "ping":
                yield Ping(_optional_text(event, "text"))
            case "transcribe":
                self._transcribe = event.data
            case "audio-start":
                yield self._start(event)
            case "audio-chunk":
                yield from self._chunk(event)
            case "audio-stop":
                yield from self._stop()
            case _:
                pass  # events of other domains (voice-started, …) are dropped, as the reference server does

    def _start(self, event: WyomingEvent) -> Open:
        if self._input == "listening":
            raise ProtocolViolation("audio-start before the audio-stop of the utterance before")
        self._format = _format_of(event)
        self._input = "listening"
        asked, self._transcribe = asked_options(self._transcribe), {}
        self._asked_language = asked["language"]
        asked["partials"] = self._can_stream() and asked.get("partials", True)
        return Open(changed_options(_audio_options(self._format), **asked))

    def _chunk(self, event: WyomingEvent) -> Iterator[Request]:
        if self._input == "finishing":
            return  # sent just before the client heard of the end
        if self._input == "idle":
            yield self._start(event)  # a chunk says all that audio-start does
        if any(key in event.data for key in _FORMAT_KEYS):
            self._check_format(_format_of(event))
        yield Audio(event.payload)

    def _check_format(self, found: tuple[int, int, int]) -> None:
        if found != self._format:
            raise ProtocolViolation(
                f"the audio changed from {_format_text(self._format)} to {_format_text(found)} within an utterance; "
                "send audio-stop and a new audio-start"
            )

    def _stop(self) -> Iterator[Request]:
        if self._input == "listening":
            self._input = "finishing"
            yield Finish()

    # Server to client

    def opened(self, session_id: str, ready: Ready) -> Iterator[Message]:  # noqa: ARG002  Wyoming knows no sessions
        """Nothing is said yet; the transcript begins."""
        language = heard_language(self._asked_language, ready.languages)
        self._output = _Transcript(language, is_streamed=is_streamed(ready))
        yield from ()

    def deliver(self, event: TranscriptEvent) -> Iterator[Message]:
        """Pieces of text as they settle, the transcript at the end."""
        if isinstance(event, Partial | Final):
            yield from map(encode_event, self._output.add(event))
        elif isinstance(event, SessionEnded):
            if self._input == "finishing":
                self._input = "idle"
            yield from map(encode_event, self._output.end())
        elif isinstance(event, Failed):
            yield from self._error(event.message, event.code, event.retry_after_s)

    def described(self, status: PoolStatus) -> Iterator[Message]:
        """``info``."""
        yield encode_event(info_event(status))

    def answered(self, ping: Ping) -> Iterator[Message]:
        """``pong``."""
        yield encode_event(WyomingEvent("pong", {"text": ping.text}))

    def refused(self, error: EdgeAsrError) -> Iterator[Message]:
        """``error``."""
        yield from self._error(str(error), error.code, error.retry_after_s)

    def _error(self, text: str, code: str, retry_after_s: float | None) -> Iterator[Message]:
        self._input = "over"
        hint = {} if retry_after_s is None else {"retry_after_s": retry_after_s}
        yield encode_event(WyomingEvent("error", {"text": text, "code": code, **hint}))


class _Transcript:
    """The answer to one utterance."""

    def __init__(self, language: str, *, is_streamed: bool) -> None:
        self._language = {"language": language} if language else {}
        self._is_streamed = is_streamed
        self._has_started = False
        self._text = AppendOnlyText()
        self._finals: list[Final] = []

    def add(self, event: Partial | Final) -> Iterator[WyomingEvent]:
        if isinstance(event, Final):
            self._finals.append(event)
        piece = self._text.take(event)
        if piece and self._is_streamed:
            yield from self._start()
            yield WyomingEvent("transcript-chunk", {"text": piece})

    def end(self) -> Iterator[WyomingEvent]:
        if self._is_streamed:
            yield from self._start()
        more = joined_fields(self._finals)
        context = {"context": more} if more else {}
        yield WyomingEvent("transcript", {"text": self._text.whole, **self._language, **context})
        if self._is_streamed:
            yield WyomingEvent("transcript-stop")

    def _start(self) -> Iterator[WyomingEvent]:
        if not self._has_started:
            self._has_started = True
            yield WyomingEvent("transcript-start", dict(self._language))


def info_event(status: PoolStatus) -> WyomingEvent:
    """What this daemon is; the model is listed once it is loaded."""
    ready = status.ready
    program = {
        "name": "edge-asr",
        "attribution": _ENGINE,
        "installed": ready is not None,
        "description": "Streaming speech recognition for small boards",
        "version": __version__,
        "models": [_model_entry(ready), *map(_other_entry, status.offered)] if ready else [],
        "supports_transcript_streaming": ready is not None and is_streamed(ready),
        "requires_external_vad": True,
    }
    others: dict[str, Any] = {kind: [] for kind in ("tts", "handle", "intent", "wake", "mic", "snd")}
    return WyomingEvent("info", {"asr": [program], **others})


def _model_entry(ready: Ready) -> dict[str, Any]:
    description = f"{ready.model} ({ready.family})"
    if ready.why_no_hotwords:
        description += f"; names and terms are ignored: {ready.why_no_hotwords}"
    return {
        "name": ready.model,
        "attribution": _ENGINE,
        "installed": True,
        "description": description,
        "version": None,
        "languages": list(ready.languages),
    }


def _other_entry(model: OfferedModel) -> dict[str, Any]:
    """One that is loaded when an utterance asks for its name or its language."""
    description = f"{model.name}, beside the active model"
    return {
        "name": model.name,
        "attribution": _ENGINE,
        "installed": True,
        "description": description,
        "version": None,
        "languages": list(model.languages),
    }


def is_streamed(ready: Ready) -> bool:
    """Whether transcripts of this model are sent in pieces: only when nothing sent would have to be taken back."""
    return ready.is_streaming and ready.is_append_only


def _format_of(event: WyomingEvent) -> tuple[int, int, int]:
    rate, width, channels = (_positive(event, key) for key in _FORMAT_KEYS)
    return rate, width, channels


def _format_text(audio_format: tuple[int, int, int] | None) -> str:
    rate, width, channels = audio_format or (0, 0, 0)
    return f"{rate} Hz, {width} bytes, {channels} channels"


def _positive(event: WyomingEvent, key: str) -> int:
    value = event.data.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ProtocolViolation(f"{event.type} needs {key} as a positive whole number, not {value!r}")
    return value


def _optional_text(event: WyomingEvent, key: str) -> str:
    value = event.data.get(key)
    if value is not None and not isinstance(value, str):
        raise ProtocolViolation(f"{event.type}: {key} must be a string")
    return value or ""


def _audio_options(audio_format: tuple[int, int, int]) -> SessionOptions:
    rate, width, channels = audio_format
    if width not in _ENCODING_OF_WIDTH:
        raise ProtocolViolation(f"samples of {width} bytes are not known; use 1, 2, 3 or 4")
    try:
        encoding = _ENCODING_OF_WIDTH[width]
        return SessionOptions(sample_rate_hz=rate, encoding=encoding, channels=channels, words=False)
    except ValueError as error:
        raise ProtocolViolation(str(error)) from error
