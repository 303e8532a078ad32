r"""Wyoming's framing: one JSON line, then ``data_length`` bytes of JSON, then ``payload_length`` bytes of anything.

::

    {"type": "audio-chunk", "version": "1.10.2", "data_length": 42, "payload_length": 2048}\n
    {"rate": 16000, "width": 2, "channels": 1}<2048 bytes of PCM>

``data`` may stand in the line as well; the separate block is merged over it. Bytes in, events out; no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from edge_asr.errors import LimitExceeded, ProtocolViolation

VERSION = "1.10.2"
"""Version of the protocol that is written and was read against."""

MAX_HEADER_BYTES = 64 << 10
"""The header line; the reference reader has the same limit."""


@dataclass(frozen=True, slots=True)
class WyomingEvent:
    """One event, in either direction."""

    type: str
    data: dict[str, Any] = field(default_factory=dict)
    payload: bytes = b""


class _Header(msgspec.Struct):
    """The line before an event's data and payload; other keys are ignored."""

    type: str
    data: dict[str, Any] | None = None
    data_length: int | None = None
    payload_length: int | None = None

    @property
    def data_bytes(self) -> int:
        return self.data_length or 0

    @property
    def payload_bytes(self) -> int:
        return self.payload_length or 0


class WyomingDecoder:
    """Cuts a byte stream into events."""

    def __init__(self, max_event_bytes: int) -> None:
        """Refuse events whose data and payload are larger than ``max_event_bytes`` together."""
        self._max_event_bytes = max_event_bytes
        self._buffer = bytearray()
        self._searched = 0
        self._header: _Header | None = None

    @property
    def is_between_events(self) -> bool:
        """Whether the stream may end here."""
        return self._header is None and not self._buffer.strip()

    def feed(self, data: bytes) -> Iterator[WyomingEvent]:
        """Take bytes, cut anywhere; yield each event that is complete.

        Raises:
            ProtocolViolation: The stream is not Wyoming; nothing after this point can be read.
            LimitExceeded: A line or an event is larger than allowed.
        """
        self._buffer += data
        while (event := self._next()) is not None:
            yield event

    def _next(self) -> WyomingEvent | None:
        if self._header is None:
            self._header = self._next_header()
        if self._header is None:
            return None
        needed = self._header.data_bytes + self._header.payload_bytes
        if len(self._buffer) < needed:
            return None
        event = _event_of(self._header, bytes(self._buffer[:needed]))
        del self._buffer[:needed]
        self._header = None
        return event

    def _next_header(self) -> _Header | None:
        line = self._next_line()
        while line is not None and not line.strip():
            line = self._next_line()  # an empty line between events harms nobody
        if line is None:
            return None
        header = _parse_header(line)
        size = header.data_bytes + header.payload_bytes
        if size > self._max_event_bytes:
            raise LimitExceeded(
                "limits.max_message_bytes",
                f"a {header.type[:40]!r} event of {size} bytes",
                f"{self._max_event_bytes} bytes",
                "send smaller chunks",
            )
        return header

    def _next_line(self) -> bytes | None:
        end = self._buffer.find(b"\n", self._searched)
        if (len(self._buffer) if end < 0 else end) > MAX_HEADER_BYTES:
            raise LimitExceeded("header line", f"more than {MAX_HEADER_BYTES} bytes", f"{MAX_HEADER_BYTES} bytes")
        if end < 0:
            self._searched = len(self._buffer)
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        return line


def encode_event(event: WyomingEvent) -> bytes:
    """One event as the reference implementation writes it: data always in its own block."""
    header: dict[str, Any] = {"type": event.type, "version": VERSION}
    data = msgspec.json.encode(event.data) if event.data else b""
    if data:
        header["data_length"] = len(data)
    if event.payload:
        header["payload_length"] = len(event.payload)
    return msgspec.json.encode(header) + b"\n" + data + event.payload


def _parse_header(line: bytes) -> _Header:
    try:
        header = msgspec.json.decode(line, type=_Header)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ProtocolViolation(f"the header line is not a Wyoming event: {error}") from error
    if header.data_bytes < 0 or header.payload_bytes < 0:
        raise ProtocolViolation(f"the header of {header.type[:40]!r} gives a negative length")
    return header


def _event_of(header: _Header, body: bytes) -> WyomingEvent:
    data = dict(header.data or {})
    if header.data_bytes:
        data.update(_parse_data(header.type, body[: header.data_bytes]))
    return WyomingEvent(header.type, data, body[header.data_bytes :])


def _parse_data(kind: str, block: bytes) -> dict[str, Any]:
    try:
        data = msgspec.json.decode(block)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ProtocolViolation(f"the data of {kind[:40]!r} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise ProtocolViolation(f"the data of {kind[:40]!r} is not a JSON object")
    return data
