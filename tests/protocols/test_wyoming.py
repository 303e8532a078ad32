"""Wyoming's framing, checked against the reference package's own reader and writer."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wyoming.event import Event, async_read_event, async_write_event

from edge_asr.errors import LimitExceeded, ProtocolViolation
from edge_asr.protocols.wyoming import MAX_HEADER_BYTES, WyomingDecoder, WyomingEvent, encode_event

JSON_VALUES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5)
EVENTS = st.builds(
    WyomingEvent,
    st.text(min_size=1, max_size=10),
    st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=4),
    st.binary(max_size=40),
)


def decoded(*pieces: bytes, limit: int = 1 << 20) -> list[WyomingEvent]:
    decoder = WyomingDecoder(limit)
    return [event for piece in pieces for event in decoder.feed(piece)]


class _Wire:
    """What ``async_write_event`` needs of a writer."""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def writelines(self, lines: Any) -> None:
        self.written += b"".join(lines)

    async def drain(self) -> None:
        pass


@given(st.lists(EVENTS, max_size=5), st.lists(st.integers(0, 400), max_size=10))
def test_events_survive_any_cutting_of_the_stream(events: list[WyomingEvent], cuts: list[int]) -> None:
    stream = b"".join(map(encode_event, events))
    bounds = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    pieces = [stream[start:end] for start, end in itertools.pairwise(bounds)]
    assert decoded(*pieces) == events


@given(EVENTS)
def test_what_is_written_is_read_alike_by_the_reference_reader(event: WyomingEvent) -> None:
    async def read() -> Event | None:
        reader = asyncio.StreamReader()
        reader.feed_data(encode_event(event))
        reader.feed_eof()
        return await async_read_event(reader)

    theirs = asyncio.run(read())
    assert theirs is not None
    assert (theirs.type, theirs.data, theirs.payload or b"") == (event.type, event.data, event.payload)


@given(EVENTS)
def test_what_the_reference_writer_writes_is_read(event: WyomingEvent) -> None:
    wire = _Wire()
    asyncio.run(async_write_event(Event(event.type, dict(event.data), event.payload), wire))  # type: ignore[arg-type]
    assert decoded(wire.written) == [event]


def test_data_may_stand_in_the_header_and_the_block_wins() -> None:
    line = b'{"type":"a","data":{"x":1,"y":1},"data_length":7}\n{"y":2}'
    assert decoded(line) == [WyomingEvent("a", {"x": 1, "y": 2})]


def test_unknown_keys_and_empty_lines_are_skipped() -> None:
    assert decoded(b'\n\r\n{"type":"a","colour":"blue"}\n') == [WyomingEvent("a")]


@pytest.mark.parametrize(
    ("stream", "sentence"),
    [
        (b"GET / HTTP/1.1\r\n", "header line is not a Wyoming event"),
        (b"\xff\xfe\n", "header line is not a Wyoming event"),
        (b'{"data":{}}\n', "missing required field `type`"),
        (b'{"type":"a","data_length":-1}\n', "negative length"),
        (b'{"type":"a","data_length":2}\n[]', "not a JSON object"),
        (b'{"type":"a","data_length":2}\n{[', "data of 'a' is not JSON"),
        (b"[" * 30_000 + b"\n", "header line is not a Wyoming event"),
    ],
)
def test_what_is_not_wyoming_is_refused_with_a_sentence(stream: bytes, sentence: str) -> None:
    with pytest.raises(ProtocolViolation) as caught:
        decoded(stream)
    assert sentence in str(caught.value)


def test_an_oversize_payload_is_refused_before_it_is_read() -> None:
    header = json.dumps({"type": "audio-chunk", "payload_length": 5000}).encode() + b"\n"
    with pytest.raises(LimitExceeded, match=r"limits\.max_message_bytes: a 'audio-chunk' event of 5000 bytes"):
        decoded(header, limit=4096)


def test_data_and_payload_count_together() -> None:
    with pytest.raises(LimitExceeded):
        decoded(b'{"type":"a","data_length":3000,"payload_length":3000}\n', limit=4096)


def test_an_endless_header_line_is_refused_while_it_comes() -> None:
    decoder = WyomingDecoder(1 << 20)
    assert list(decoder.feed(b"x" * MAX_HEADER_BYTES)) == []
    with pytest.raises(LimitExceeded, match="header line"):
        list(decoder.feed(b"x"))


def test_the_decoder_knows_whether_the_stream_may_end() -> None:
    decoder = WyomingDecoder(4096)
    assert decoder.is_between_events
    list(decoder.feed(b'{"type":"a","payload_length":2}\nx'))
    assert not decoder.is_between_events
    list(decoder.feed(b"y"))
    assert decoder.is_between_events


@given(st.lists(st.binary(max_size=60) | st.sampled_from([b"\n", b'{"type":"a"}\n', b'{"type":']), max_size=8))
def test_garbage_is_refused_and_never_anything_else(pieces: list[bytes]) -> None:
    try:
        decoded(*pieces)
    except (ProtocolViolation, LimitExceeded) as error:
        assert str(error)
