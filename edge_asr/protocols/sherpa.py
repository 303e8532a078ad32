"""sherpa-onnx's online websocket protocol: 32-bit floats in, one JSON per change out. See ``docs/sherpa-protocol.md``.

::

    → samples (float32, 16 kHz, mono)             ← {"text":"go for",…,"is_final":false,"is_eof":false}
    → Done                                        ← {"text":"go forward",…,"is_final":true,"is_eof":true}
                                                  ← Done!

The connection stays open afterwards and may carry another stream; the client closes it. A result with ``is_eof`` always
comes before ``Done!``, because clients take the last message for the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from edge_asr.errors import EdgeAsrError, ProtocolViolation
from edge_asr.events import Failed, Final, Partial, SessionEnded, TranscriptEvent
from edge_asr.protocols.base import Conversation, Handshake, Message
from edge_asr.protocols.float_audio import FloatCheck
from edge_asr.protocols.query import options_from_query
from edge_asr.protocols.sherpa_json import online_result
from edge_asr.requests import Audio, CatchUp, Finish, Open, Request, SessionOptions
from edge_asr.workers.messages import Ready

DEFAULTS = SessionOptions(sample_rate_hz=16_000, encoding="f32le")

END_OF_AUDIO = "Done"
END_OF_RESULTS = "Done!"


class SherpaConversation(Conversation):
    """The server's side of one connection."""

    protocol = "sherpa"

    def __init__(self, handshake: Handshake | None = None) -> None:
        """Start a conversation.

        Raises:
            ProtocolViolation: The query of the URL asks for what there is not.
        """
        self._options = options_from_query(handshake.query if handshake else {}, DEFAULTS)
        self._state: Literal["idle", "audio", "finishing", "over"] = "idle"
        self._begin()

    def _begin(self) -> None:
        self._check = FloatCheck()
        self._segment = 0
        """The one that a result for no more text belongs to."""
        self._is_eof_said = False

    @property
    def is_over(self) -> bool:
        """A refusal ended the conversation."""
        return self._state == "over"

    # Client to server

    def receive(self, message: Message) -> Iterator[Request]:
        """One websocket message."""
        if isinstance(message, str):
            yield from self._control(message)
            return
        if self._state != "audio":
            yield Open(self._options)  # the stream before is answered to its end first
            self._state = "audio"
        self._check.look(message)
        yield Audio(message)

    def end_of_input(self) -> Iterator[Request]:
        """The client sends no more."""
        if self._state == "audio":
            self._state = "finishing"
            yield Finish()

    def _control(self, text: str) -> Iterator[Request]:
        if text.strip() != END_OF_AUDIO:
            raise ProtocolViolation(f"a text message must be {END_OF_AUDIO!r}, not {text[:40]!r}; audio is binary")
        if self._state == "audio":
            self._state = "finishing"
            yield Finish()
        elif self._state == "idle":
            yield CatchUp()

    # Server to client

    def opened(self, session_id: str, ready: Ready) -> Iterator[Message]:  # noqa: ARG002
        """Nothing is said yet."""
        yield from ()

    def deliver(self, event: TranscriptEvent) -> Iterator[Message]:
        """A result for every change, and the end."""
        if isinstance(event, Partial):
            yield online_result(event, is_eof=False)
        elif isinstance(event, Final):
            self._segment = event.segment + 1
            self._is_eof_said = event.reason == "end_of_audio"
            yield online_result(event, is_eof=self._is_eof_said)
        elif isinstance(event, SessionEnded):
            yield from self._end(event.audio_s)
        elif isinstance(event, Failed):
            self._state = "over"

    def caught_up(self) -> Iterator[Message]:
        """Done without audio."""
        yield from self._end(0.0)

    def refused(self, error: EdgeAsrError) -> Iterator[Message]:  # noqa: ARG002
        """There is no message for it: the connection is closed with the reason."""
        self._state = "over"
        yield from ()

    def _end(self, audio_s: float) -> Iterator[Message]:
        if not self._is_eof_said:
            nothing_more = Final("", self._segment, "", (), audio_s, audio_s, "end_of_audio", 0)
            yield online_result(nothing_more, is_eof=True)
        yield END_OF_RESULTS
        self._state = "idle"
        self._begin()
