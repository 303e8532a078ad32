"""sherpa-onnx's offline websocket protocol: whole recordings in, one JSON each out. See ``docs/sherpa-protocol.md``.

::

    → sample rate (int32), bytes of samples (int32), samples (float32, mono); cut into messages anywhere
                                                  ← {"lang":"en",…,"text":"go forward",…}
    → the next recording, or Done                 (the connection is closed)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Literal

from edge_asr.errors import EdgeAsrError, LimitExceeded, ProtocolViolation
from edge_asr.events import Failed, Final, SessionEnded, TranscriptEvent
from edge_asr.languages import heard_language
from edge_asr.protocols.base import Conversation, Handshake, Message
from edge_asr.protocols.float_audio import FloatCheck
from edge_asr.protocols.query import changed_options, options_from_query
from edge_asr.protocols.sherpa import DEFAULTS, END_OF_AUDIO
from edge_asr.protocols.sherpa_json import offline_result
from edge_asr.requests import (
    MAX_SAMPLE_RATE_HZ,
    MIN_SAMPLE_RATE_HZ,
    Audio,
    CatchUp,
    Finish,
    Open,
    Request,
)
from edge_asr.workers.messages import Ready

_HEADER = struct.Struct("<ii")
_SAMPLE_BYTES = 4


def is_offline_header(message: bytes) -> bool:
    """Whether a connection's first message begins as a recording does: as floats, its header would be no sound."""
    if len(message) < _HEADER.size:
        return False
    rate, size = _HEADER.unpack_from(message)
    return bool(MIN_SAMPLE_RATE_HZ <= rate <= MAX_SAMPLE_RATE_HZ and size >= 0 and size % _SAMPLE_BYTES == 0)


class SherpaOfflineConversation(Conversation):
    """The server's side of one connection."""

    protocol = "sherpa-offline"
    may_rest = True

    def __init__(self, max_audio_s: float, handshake: Handshake | None = None) -> None:
        """Start a conversation.

        Args:
            max_audio_s: Longest recording accepted, seconds.
            handshake: Its query may hold session options.

        Raises:
            ProtocolViolation: The query of the URL asks for what there is not.
        """
        asked = options_from_query(handshake.query if handshake else {}, DEFAULTS)
        self._options = changed_options(asked, partials=False, is_batch=True)
        self._max_audio_s = max_audio_s
        self._state: Literal["header", "samples", "over"] = "header"
        self._header = b""
        self._missing_bytes = 0
        self._is_last = False
        self._unanswered = 0
        self._language = ""
        self._finals: list[Final] = []
        self._check = FloatCheck()

    @property
    def is_over(self) -> bool:
        """Done was said and everything is answered."""
        return self._state == "over" or (self._is_last and not self._unanswered)

    # Client to server

    def receive(self, message: Message) -> Iterator[Request]:
        """One websocket message."""
        if isinstance(message, str):
            self._end(message)
            yield CatchUp()
            return
        if self._is_last:
            raise ProtocolViolation(f"audio after {END_OF_AUDIO!r}")
        rest = memoryview(message)
        while rest:
            if self._state == "header":
                needed = _HEADER.size - len(self._header)
                self._header += bytes(rest[:needed])
                rest = rest[needed:]
                if len(self._header) == _HEADER.size:
                    yield from self._begin()
            else:
                piece, rest = bytes(rest[: self._missing_bytes]), rest[self._missing_bytes :]
                yield from self._take(piece)

    def end_of_input(self) -> Iterator[Request]:
        """The client sends no more: half a recording is still recognised."""
        if self._state == "samples":
            self._state = "header"
            self._is_last = True
            yield Finish()

    def _begin(self) -> Iterator[Request]:
        rate, size = _HEADER.unpack(self._header)
        if size < 0 or size % _SAMPLE_BYTES:
            raise ProtocolViolation(f"the header gives {size} bytes of samples, which is no number of 32-bit floats")
        options = changed_options(self._options, sample_rate_hz=rate)
        seconds = size / options.bytes_per_second
        if seconds > self._max_audio_s:
            limit = f"{self._max_audio_s:g} s"
            raise LimitExceeded("limits.max_upload_s", f"a recording of {seconds:.1f} s", limit, "cut it into pieces")
        self._header, self._missing_bytes, self._state = b"", size, "samples"
        self._unanswered += 1
        self._check = FloatCheck()
        yield Open(options)
        yield from self._take(b"")

    def _take(self, piece: bytes) -> Iterator[Request]:
        self._check.look(piece)
        self._missing_bytes -= len(piece)
        if piece:
            yield Audio(piece)
        if not self._missing_bytes:
            self._state = "header"
            yield Finish()

    def _end(self, text: str) -> None:
        if text.strip() != END_OF_AUDIO:
            raise ProtocolViolation(f"a text message must be {END_OF_AUDIO!r}, not {text[:40]!r}; audio is binary")
        if self._state == "samples" or self._header:
            raise ProtocolViolation(f"{END_OF_AUDIO!r} in the middle of a recording: {self._missing_bytes} bytes miss")
        self._is_last = True

    # Server to client

    def opened(self, session_id: str, ready: Ready) -> Iterator[Message]:  # noqa: ARG002
        """Nothing is said yet."""
        self._language, self._finals = heard_language(self._options.language, ready.languages), []
        yield from ()

    def deliver(self, event: TranscriptEvent) -> Iterator[Message]:
        """One message at the end of a recording."""
        if isinstance(event, Final):
            self._finals.append(event)
        elif isinstance(event, SessionEnded):
            self._unanswered -= 1
            yield offline_result(self._finals, self._language)
        elif isinstance(event, Failed):
            self._state = "over"

    def refused(self, error: EdgeAsrError) -> Iterator[Message]:  # noqa: ARG002
        """There is no message for it: the connection is closed with the reason."""
        self._state = "over"
        yield from ()
