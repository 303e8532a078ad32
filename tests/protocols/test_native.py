"""The native websocket protocol, without a websocket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.errors import Overloaded, ProtocolViolation
from edge_asr.events import Failed, Notice, TranscriptEvent, Word
from edge_asr.protocols import native
from edge_asr.protocols.base import Message
from edge_asr.protocols.native import NativeConversation
from edge_asr.requests import Audio, Describe, Finish, Flush, Open, Ping, Request, SessionOptions
from tests.support.values import READY, SERVING, STARTING, ended, final, partial


def sent(conversation: NativeConversation, *messages: Message) -> list[Request]:
    return [request for message in messages for request in conversation.receive(message)]


def in_audio() -> NativeConversation:
    conversation = NativeConversation()
    sent(conversation, '{"type":"hello"}')
    return conversation


def one(messages: Iterator[Message]) -> dict[str, Any]:
    (message,) = messages
    fields: dict[str, Any] = json.loads(message)
    return fields


def test_a_bare_hello_opens_a_session_with_the_defaults() -> None:
    assert sent(NativeConversation(), '{"type":"hello"}') == [Open(SessionOptions())]


@given(
    st.builds(
        SessionOptions,
        sample_rate_hz=st.integers(4000, 384_000),
        encoding=st.sampled_from(["s16le", "f32le", "mulaw"]),
        channels=st.integers(1, 8),
        language=st.text(max_size=5),
        partials=st.booleans(),
        is_live=st.booleans(),
        endpoint_silence_ms=st.none() | st.integers(100, 60_000),
    )
)
def test_every_option_survives_the_hello(options: SessionOptions) -> None:
    assert sent(NativeConversation(), native.hello(options)) == [Open(options)]


def test_messages_become_requests_in_order() -> None:
    requests = sent(
        NativeConversation(),
        '{"type":"hello"}',
        b"\x01\x02",
        native.control("flush"),
        '{"type":"ping","text":"x"}',
        native.control("describe"),
        native.control("finish"),
    )
    assert requests[1:] == [Audio(b"\x01\x02"), Flush(), Ping("x"), Describe(), Finish()]


@pytest.mark.parametrize(
    ("hello", "sentence"),
    [
        ('{"type":"hello","sample_rate":16000}', "did you mean 'sample_rate_hz'?"),
        ('{"type":"hello","sample_rate_hz":"16k"}', "sample_rate_hz: Expected `int`"),
        ('{"type":"hello","sample_rate_hz":1}', "sample rate 1 Hz is outside 4000 to 384000 Hz"),
        ('{"type":"hello","encoding":"mp3"}', "encoding: Invalid enum value 'mp3'"),
        ('{"type":"helo"}', "unknown message type 'helo'; did you mean 'hello'?"),
        ('{"type":3}', "whose 'type' is a string"),
        ("[1]", "must be a JSON object"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"type":"flush"}', "flush before the hello"),
        ('{"type":"ping","text":3}', "text must be a string"),
        ('{"type":"finish","now":true}', "finish: unknown field 'now'"),
    ],
)
def test_a_wrong_first_message_is_refused_with_a_sentence(hello: str, sentence: str) -> None:
    with pytest.raises(ProtocolViolation) as caught:
        sent(NativeConversation(), hello)
    assert sentence in str(caught.value)


def test_audio_before_the_hello_is_refused() -> None:
    with pytest.raises(ProtocolViolation, match="audio before the hello"):
        sent(NativeConversation(), b"\0\0")


def test_a_second_hello_is_refused() -> None:
    with pytest.raises(ProtocolViolation, match="one connection carries one session"):
        sent(in_audio(), '{"type":"hello"}')


def test_audio_after_finish_is_refused() -> None:
    with pytest.raises(ProtocolViolation, match="audio after finish"):
        sent(in_audio(), native.control("finish"), b"\0\0")


def test_a_second_finish_and_a_late_flush_are_harmless() -> None:
    assert sent(in_audio(), native.control("finish"), native.control("finish"), native.control("flush")) == [Finish()]


def test_the_end_of_input_finishes_an_open_session_once() -> None:
    conversation = in_audio()
    assert list(conversation.end_of_input()) == [Finish()]
    assert list(conversation.end_of_input()) == []


def test_ready_says_what_was_loaded() -> None:
    assert one(in_audio().opened("s1", READY)) == {
        "type": "ready",
        "protocol": 1,
        "session_id": "s1",
        "model": "starter-en",
        "languages": ["en"],
        "provider": "cpu",
        "sample_rate_hz": 16000,
        "chunk_ms": 320.0,
        "is_streaming": True,
        "is_append_only": True,
    }


EVENTS: list[TranscriptEvent] = [
    partial("go", 2),
    final("go forward"),
    Notice("s", "audio_dropped", "100 samples were dropped", 100),
    ended(),
    Failed("s", "worker_died", "it died", True),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_event_survives_the_wire(event: TranscriptEvent) -> None:
    (message,) = in_audio().deliver(event)
    assert isinstance(message, str)
    assert native.parse_server_message(message) == event


def test_a_final_carries_its_words() -> None:
    message = one(in_audio().deliver(final("go on")))
    words = (Word("go", 0.0, 0.5, 0.5), Word("on", 0.5, 1.0, 0.5))
    assert message["words"] == [msgspec.to_builtins(word) for word in words]


def test_the_conversation_is_over_after_the_end() -> None:
    conversation = in_audio()
    assert not conversation.is_over
    list(conversation.deliver(ended()))
    assert conversation.is_over


def test_a_refusal_is_a_failure_without_a_session() -> None:
    conversation = NativeConversation()
    assert one(conversation.refused(Overloaded("all 4 sessions are in use", retry_after_s=7.0))) == {
        "type": "failed",
        "session_id": "",
        "code": "overloaded",
        "message": "all 4 sessions are in use; try again in 7 s",
        "is_retryable": True,
        "retry_after_s": 7.0,
    }
    assert conversation.is_over


def test_a_ping_is_answered_with_its_text() -> None:
    assert one(in_audio().answered(Ping("now"))) == {"type": "pong", "text": "now"}


def test_describe_names_the_model_once_it_is_loaded() -> None:
    assert one(in_audio().described(SERVING))["model"] == "starter-en"
    assert one(in_audio().described(STARTING))["reason"] == "the model is being loaded"


@given(st.lists(st.text() | st.binary(max_size=8) | st.sampled_from(["{}", '{"type":"hello"}', '{"type":"flush"}'])))
def test_garbage_is_refused_and_never_anything_else(messages: list[Message]) -> None:
    conversation = NativeConversation()
    try:
        sent(conversation, *messages)
    except ProtocolViolation as error:
        assert str(error)


def test_a_clients_own_word_does_not_fill_the_log() -> None:
    with pytest.raises(ProtocolViolation) as caught:
        list(NativeConversation().receive(json.dumps({"type": "x" * 100_000})))
    assert len(str(caught.value)) < 250
