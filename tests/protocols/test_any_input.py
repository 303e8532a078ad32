"""Whatever a client sends: every codec refuses by an error of the protocol, and requests what a driver can execute."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.errors import LimitExceeded, ProtocolViolation
from edge_asr.events import TranscriptEvent
from edge_asr.protocols.base import Conversation, Handshake, Message
from edge_asr.protocols.native import NativeConversation
from edge_asr.protocols.realtime import RealtimeConversation
from edge_asr.protocols.sherpa import SherpaConversation
from edge_asr.protocols.sherpa_offline import SherpaOfflineConversation
from edge_asr.protocols.sherpa_port import SherpaPortConversation
from edge_asr.protocols.vosk import VoskConversation
from edge_asr.protocols.wyoming import WyomingEvent, encode_event
from edge_asr.protocols.wyoming_conversation import WyomingConversation
from edge_asr.requests import Audio, CatchUp, Describe, Discard, Finish, Flush, Open, Ping, Request
from tests.support.values import READY, SERVING, ended, final, partial

CODECS: dict[str, Callable[[], Conversation]] = {
    "native": NativeConversation,
    "wyoming": lambda: WyomingConversation(1 << 20, lambda: True),
    "vosk": VoskConversation,
    "sherpa": SherpaConversation,
    "sherpa-offline": lambda: SherpaOfflineConversation(60.0),
    "sherpa-port": lambda: SherpaPortConversation(60.0, Handshake()),
    "realtime": RealtimeConversation,
}

WORDS = [
    "type", "hello", "flush", "finish", "describe", "ping", "session", "session.update",
    "transcription_session.update", "audio", "input", "format", "rate", "input_audio_buffer.append",
    "input_audio_buffer.commit", "input_audio_buffer.clear", "config", "eof", "reset", "sample_rate", "words",
    "turn_detection", "server_vad", "silence_duration_ms", "transcription", "language", "model", "keywords",
    "max_alternatives", "phrase_list",
]  # fmt: skip

SCALARS = (
    st.none() | st.booleans() | st.integers(-5, 1 << 40) | st.floats() | st.sampled_from(WORDS) | st.text(max_size=9)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=8,
)
EVENTS = ("audio-start", "audio-chunk", "audio-stop", "transcribe", "describe", "ping", "voice-started")
WYOMING = st.builds(
    lambda kind, data, payload: encode_event(WyomingEvent(kind, data, payload)),
    st.sampled_from(EVENTS),
    st.dictionaries(st.sampled_from(["rate", "width", "channels", "name", "language", "context"]), VALUES, max_size=4),
    st.binary(max_size=8),
)
USUAL: list[Message] = [
    "Done",
    '{"type":"hello"}',
    '{"type":"finish"}',
    '{"eof" : 1}',
    '{"reset" : 1}',
    '{"config" : {"sample_rate" : 16000}}',
    '{"type":"input_audio_buffer.append","audio":"AAAA"}',
    '{"type":"input_audio_buffer.commit"}',
    '{"type":"input_audio_buffer.clear"}',
    b"\x80\x3e\x00\x00\x04\x00\x00\x00",
    b"\0\0\0\0",
]
LIKELY = st.sampled_from(USUAL)
MESSAGES = LIKELY | WYOMING | st.binary(max_size=20) | st.text(max_size=20) | VALUES.map(json.dumps)


class Driver:
    """Executes requests as ``servers/dialogue.py`` does; a session says a word and ends when it is finished."""

    def __init__(self, talk: Conversation) -> None:
        self.talk = talk
        self.has_session = self.is_listening = False
        self.said: list[Message] = [*talk.greeting()]

    def take(self, requests: Iterator[Request]) -> None:
        for request in requests:
            self.said += self._execute(request)

    def _execute(self, request: Request) -> Iterator[Message]:
        match request:
            case Open():
                assert not self.is_listening, "a session while another one takes audio"
                self.has_session = self.is_listening = True
                yield from self.talk.opened("s", READY)
            case Audio() | Flush():
                if self.is_listening:
                    yield from self._deliver(partial("go", 2))
            case Finish():
                if self.is_listening:
                    self.is_listening = self.has_session = False
                    yield from self._deliver(final("go forward"), ended())
            case Discard():
                self.is_listening = self.has_session = False
            case CatchUp():
                yield from self.talk.caught_up()
            case Describe():
                yield from self.talk.described(SERVING)
            case Ping():
                yield from self.talk.answered(request)

    def _deliver(self, *events: TranscriptEvent) -> Iterator[Message]:
        for event in events:
            yield from self.talk.deliver(event)


@pytest.mark.parametrize("name", list(CODECS))
@given(messages=st.lists(MESSAGES, max_size=12))
def test_a_codec_refuses_by_an_error_of_the_protocol_or_goes_on(name: str, messages: list[Any]) -> None:
    driver = Driver(CODECS[name]())
    try:
        for message in messages:
            driver.take(driver.talk.receive(message))
            if driver.talk.is_over:
                return
        driver.take(driver.talk.end_of_input())
    except (ProtocolViolation, LimitExceeded) as refusal:
        driver.said += driver.talk.refused(refusal)
        assert driver.talk.is_over
    assert not driver.is_listening or driver.talk.is_over, "the end of the input ends the audio"
