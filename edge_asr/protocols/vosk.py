"""vosk-server's websocket protocol: exactly one answer to every piece of audio. See ``docs/vosk-protocol.md``.

::

    → {"config" : {"sample_rate" : 16000}}        no answer
    → audio (16 bit)                              ← {"partial" : "go for"}, or the result of a segment that has closed
    → {"reset" : 1}                               ← the rest as a result; the connection goes on
    → {"eof" : 1}                                 ← the rest as a result, and the connection is closed

An answer comes when the audio before it is decoded, but for the last half second: a client that waits for its answers
is paced by the recogniser, as it is by the original. Any spelling of the JSON is taken; what is sent is spelled as Vosk
spells it, to the last space.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from edge_asr.errors import EdgeAsrError, ProtocolViolation
from edge_asr.events import Failed, Final, Partial, SessionEnded, TranscriptEvent, Word
from edge_asr.protocols.base import Conversation, Handshake, Message
from edge_asr.protocols.final_fields import joined_fields
from edge_asr.protocols.query import changed_options, options_from_query, words_of
from edge_asr.protocols.vosk_json import vosk_json
from edge_asr.requests import Audio, CatchUp, Finish, Open, Request, SessionOptions
from edge_asr.subtitles import joined_text
from edge_asr.workers.messages import Ready

DEFAULTS = SessionOptions(sample_rate_hz=8000)
"""As the original: a client that says nothing sends telephone audio."""

_NOT_A_PHRASE = "[unk]"
"""Stands in phrase lists for all that is none of the phrases."""


class _Config(msgspec.Struct):
    """What a client may set; other keys are ignored, as the original does."""

    sample_rate: float | None = None
    words: bool | int | None = None
    max_alternatives: int | None = None
    phrase_list: list[str] | None = None
    model: str | None = None
    language: str | None = None
    commands: str | None = None
    """Not Vosk's: sentence templates of spoken commands."""
    endpoint_silence_ms: int | None = None
    """Not Vosk's: how long a silence closes a segment."""
    itn: bool | None = None
    """Not Vosk's: figures for numbers, dates, money and times."""
    punctuation: bool | None = None
    """Not Vosk's: capitals and punctuation."""
    partials: bool | None = None
    """Not Vosk's: without them every answer that is no result is an empty partial."""


class VoskConversation(Conversation):
    """The server's side of one connection."""

    protocol = "vosk"

    def __init__(self, handshake: Handshake | None = None) -> None:
        """Start a conversation.

        Raises:
            ProtocolViolation: The query of the URL asks for what there is not.
        """
        self._options = options_from_query(handshake.query if handshake else {}, DEFAULTS)
        self._state: Literal["idle", "audio", "resetting", "finishing", "over"] = "idle"
        self._has_alternatives = False
        self._partial = ""
        self._results: deque[Final] = deque()
        self._audio_s = 0.0
        """Of the sessions before this one: a reset does not turn the clock back."""

    @property
    def is_over(self) -> bool:
        """The last result is out."""
        return self._state == "over"

    # Client to server

    def receive(self, message: Message) -> Iterator[Request]:
        """One websocket message."""
        if self._state in ("finishing", "over"):
            return  # sent just before the client heard of the end
        if isinstance(message, str):
            yield from self._control(message)
            return
        if self._state != "audio":
            self._state = "audio"
            yield Open(self._options)
        yield Audio(message)
        yield CatchUp()

    def end_of_input(self) -> Iterator[Request]:
        """The client sends no more."""
        yield from self._finish("finishing")

    def _control(self, text: str) -> Iterator[Request]:
        try:
            fields = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ProtocolViolation(f"a text message is not JSON: {error}") from error
        if not isinstance(fields, dict):
            raise ProtocolViolation("a text message must be a JSON object with config, reset or eof")
        if "config" in fields:
            self._configure(fields["config"])
        elif "reset" in fields:
            yield from self._finish("resetting")
        elif "eof" in fields:
            yield from self._finish("finishing")
        else:
            raise ProtocolViolation("a text message has none of config, reset and eof")

    def _configure(self, fields: object) -> None:
        try:
            config = msgspec.convert(fields, _Config)
        except msgspec.ValidationError as error:
            raise ProtocolViolation(f"config: {error}") from error
        asked = changed_options(self._options, **_changes(config))
        if self._state == "audio" and asked.sample_rate_hz != self._options.sample_rate_hz:
            raise ProtocolViolation(
                f"config: the audio cannot change from {self._options.sample_rate_hz} Hz to {asked.sample_rate_hz} Hz "
                'now; send {"reset" : 1} before'
            )
        self._options = asked
        if config.max_alternatives is not None:
            self._has_alternatives = config.max_alternatives > 0

    def _finish(self, state: Literal["resetting", "finishing"]) -> Iterator[Request]:
        is_open = self._state == "audio"
        if self._state in ("idle", "audio"):
            self._state = state
            yield Finish() if is_open else CatchUp()

    # Server to client

    def opened(self, session_id: str, ready: Ready) -> Iterator[Message]:  # noqa: ARG002
        """Vosk says nothing."""
        self._partial = ""
        yield from ()

    def deliver(self, event: TranscriptEvent) -> Iterator[Message]:
        """Kept for the answer to the next message; the end of the audio is one itself."""
        if isinstance(event, Partial):
            self._partial = event.text
        elif isinstance(event, Final):
            self._partial = ""
            self._results.append(event)
        elif isinstance(event, SessionEnded):
            yield self._rest()
            self._audio_s += event.audio_s
            self._state = "idle" if self._state == "resetting" else "over"
        elif isinstance(event, Failed):
            self._state = "over"

    def caught_up(self) -> Iterator[Message]:
        """The answer to a message: the oldest result that is not out yet, or how far the open segment is."""
        if self._state in ("resetting", "finishing"):  # there was no audio
            yield self._rest()
            self._state = "idle" if self._state == "resetting" else "over"
        elif self._results:
            yield self._result([self._results.popleft()])
        else:
            yield vosk_json({"partial": self._partial})

    def refused(self, error: EdgeAsrError) -> Iterator[Message]:  # noqa: ARG002
        """Vosk has no message for it: the connection is closed with the reason."""
        self._state = "over"
        yield from ()

    def _rest(self) -> str:
        """One result of all that is not out yet: a client reads no more than one."""
        finals, self._results = list(self._results), deque()
        return self._result(finals)

    def _result(self, finals: Sequence[Final]) -> str:
        text = joined_text(final.text for final in finals)
        words = [word for final in finals for word in final.words] if self._options.words else []
        meant = joined_fields(finals)
        if self._has_alternatives:
            best: dict[str, Any] = {"confidence": _mean_confidence(words)}
            if words:
                best["result"] = [self._times_of(word) for word in words]
            return vosk_json({"alternatives": [{**best, **meant, "text": text}]})
        result = [{"conf": _confidence(word), **self._times_of(word)} for word in words]
        return vosk_json({**({"result": result} if result else {}), **meant, "text": text})

    def _times_of(self, word: Word) -> dict[str, Any]:
        return {"end": self._audio_s + word.end_s, "start": self._audio_s + word.start_s, "word": word.text}


def _changes(config: _Config) -> dict[str, Any]:
    rate = None if config.sample_rate is None else round(config.sample_rate)
    phrases = None if config.phrase_list is None else words_of([p for p in config.phrase_list if p != _NOT_A_PHRASE])
    changes = {
        "sample_rate_hz": rate,
        "words": None if config.words is None else bool(config.words),
        "hotwords": phrases,
        "model": config.model,
        "language": config.language,
        "commands": config.commands,
        "endpoint_silence_ms": config.endpoint_silence_ms,
        "partials": config.partials,
        "itn": config.itn,
        "punctuation": config.punctuation,
    }
    return {name: value for name, value in changes.items() if value is not None}


def _confidence(word: Word) -> float:
    return 1.0 if word.confidence is None else word.confidence


def _mean_confidence(words: Sequence[Word]) -> float:
    return sum(map(_confidence, words)) / len(words) if words else 1.0
