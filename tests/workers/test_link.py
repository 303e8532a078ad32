from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.requests import SessionOptions
from edge_asr.workers.link import FrontGone, Link
from edge_asr.workers.messages import (
    Consumed,
    FinishSession,
    FromWorker,
    MessageDecoder,
    OpenSession,
    SessionAudio,
    ToWorker,
    encode_message,
)


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, Link(theirs)


def test_messages_arrive_in_order(ends):
    front, link = ends
    messages: list[ToWorker] = [OpenSession("a", SessionOptions()), SessionAudio("a", b"12"), FinishSession("a")]
    front.sendall(b"".join(encode_message(message) for message in messages))
    assert list(link.receive()) == messages


def test_half_a_message_is_none_yet(ends):
    front, link = ends
    framed = encode_message(FinishSession("a"))
    front.sendall(framed[:5])
    assert list(link.receive()) == []
    front.sendall(framed[5:])
    assert list(link.receive()) == [FinishSession("a")]


def test_waiting_ends_when_nothing_comes(ends):
    _, link = ends
    assert list(link.receive(timeout_s=0.001)) == []


def test_the_end_of_the_connection_is_not_an_empty_message(ends):
    front, link = ends
    front.close()
    with pytest.raises(FrontGone, match="the front process closed the connection"):
        link.receive()


def test_writing_to_a_front_that_is_gone_is_an_error(ends):
    front, link = ends
    front.close()
    with pytest.raises(FrontGone):
        link.send(Consumed("a", 1))


def test_what_is_sent_reads_back(ends):
    front, link = ends
    link.send(Consumed("a", 7))
    assert list(MessageDecoder(FromWorker).feed(front.recv(100))) == [Consumed("a", 7)]


def test_rubbish_is_an_error(ends):
    front, link = ends
    front.sendall(b"\xff" * 16)
    with pytest.raises(ValueError, match="message of 4294967295 bytes"):
        list(link.receive())


@given(
    st.lists(st.builds(SessionAudio, st.text(max_size=8), st.binary(max_size=200)), max_size=8),
    st.integers(1, 64),
)
def test_any_cutting_of_the_bytes_gives_the_same_messages(messages, size):
    framed = b"".join(encode_message(message) for message in messages)
    decoder = MessageDecoder(SessionAudio)
    pieces = (framed[start : start + size] for start in range(0, len(framed), size))
    assert [message for piece in pieces for message in decoder.feed(piece)] == messages


def test_messages_that_are_sent_together_are_written_together(ends):
    front, link = ends
    link.send(Consumed("a", 7), Consumed("b", 8))
    assert list(MessageDecoder(FromWorker).feed(front.recv(1000))) == [Consumed("a", 7), Consumed("b", 8)]
