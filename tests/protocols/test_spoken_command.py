"""What was meant, in every protocol's answer; and nothing of it where nobody listens for commands."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from edge_asr.events import Command, Final
from edge_asr.protocols.base import Conversation, Message
from edge_asr.protocols.openai import Transcription, parse_form, render
from edge_asr.protocols.realtime import RealtimeConversation
from edge_asr.protocols.sherpa import SherpaConversation
from edge_asr.protocols.spoken_command import command_fields
from edge_asr.protocols.vosk import VoskConversation
from edge_asr.protocols.wyoming import WyomingDecoder, WyomingEvent, encode_event
from edge_asr.protocols.wyoming_conversation import WyomingConversation
from edge_asr.requests import Open, SessionOptions
from tests.support.values import READY, ended, final

OPEN = final("turn on the lamp")
MEANT: Final = msgspec.structs.replace(
    OPEN, command=Command("TurnOn", {"name": "lamp", "level": 3}, 0.98), open_text="turn on the lamb"
)
FIELDS = {"intent": "TurnOn", "slots": {"name": "lamp", "level": 3}, "score": 0.98, "open_text": "turn on the lamb"}
TEMPLATES = "language: en"


def session_of(talk: Conversation, *messages: Message) -> SessionOptions:
    requests = [request for message in messages for request in talk.receive(message)]
    list(talk.opened("s", READY))
    return next(request.options for request in requests if isinstance(request, Open))


def said(talk: Conversation, *events: Any) -> list[Message]:
    return [message for event in events for message in talk.deliver(event)]


def last(messages: Iterable[Message]) -> Any:
    return json.loads(list(messages)[-1])


def within(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: answer[name] for name in FIELDS if name in answer}


def test_vosk() -> None:
    talk = VoskConversation()
    options = session_of(talk, json.dumps({"config": {"commands": TEMPLATES}}), b"\0\0")
    said(talk, MEANT)
    assert (options.commands, within(last(talk.caught_up()))) == (TEMPLATES, FIELDS)


def test_sherpa() -> None:
    talk = SherpaConversation()
    assert within(last(said(talk, MEANT))) == FIELDS


def test_realtime() -> None:
    talk = RealtimeConversation()
    heard = {"transcription": {"commands": TEMPLATES}}
    update = {"type": "session.update", "session": {"type": "transcription", "audio": {"input": heard}}}
    append = {"type": "input_audio_buffer.append", "audio": "AAAA"}
    options = session_of(talk, json.dumps(update), json.dumps(append))
    assert (options.commands, within(last(said(talk, MEANT)))) == (TEMPLATES, FIELDS)


def test_wyoming() -> None:
    talk = WyomingConversation(1 << 20, lambda: False)
    start = {"rate": 16_000, "width": 2, "channels": 1}
    asked = WyomingEvent("transcribe", {"context": {"commands": TEMPLATES}})
    options = session_of(talk, encode_event(asked), encode_event(WyomingEvent("audio-start", start)))
    decoder = WyomingDecoder(1 << 20)
    answers = [event for message in said(talk, MEANT, ended()) for event in decoder.feed(bytes(message))]  # type: ignore[arg-type]
    (transcript,) = (event for event in answers if event.type == "transcript")
    assert (options.commands, transcript.data["context"]) == (TEMPLATES, FIELDS)


def test_openai() -> None:
    request = parse_form([("response_format", "verbose_json"), ("commands", TEMPLATES)])
    (segment,) = json.loads(render(request, Transcription((MEANT,), 1.0, "en")).content)["segments"]
    assert (request.options.commands, within(segment)) == (TEMPLATES, FIELDS)


@pytest.mark.parametrize("talk", [VoskConversation(), SherpaConversation(), RealtimeConversation()])
def test_open_speech_is_answered_as_the_original_does(talk: Conversation) -> None:
    answers = said(talk, OPEN) or list(talk.caught_up())
    assert within(last(answers)) == {}


def test_speech_that_was_no_command_has_its_open_text_only() -> None:
    assert command_fields(msgspec.structs.replace(OPEN, open_text="hello")) == {"open_text": "hello"}
