"""What was meant and how it was heard, in every protocol's answer; and nothing of it where nobody asked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from edge_asr.events import Command, Final, Speaker
from edge_asr.protocols.base import Conversation, Handshake, Message
from edge_asr.protocols.final_fields import final_fields, joined_fields
from edge_asr.protocols.openai import Transcription, parse_form, render
from edge_asr.protocols.realtime import RealtimeConversation
from edge_asr.protocols.sherpa import SherpaConversation
from edge_asr.protocols.sherpa_json import offline_result
from edge_asr.protocols.vosk import VoskConversation
from edge_asr.protocols.wyoming import WyomingDecoder, WyomingEvent, encode_event
from edge_asr.protocols.wyoming_conversation import WyomingConversation
from edge_asr.requests import Open, SessionOptions
from tests.support.values import READY, ended, final

OPEN = final("turn on the lamp")
MEANT: Final = msgspec.structs.replace(
    OPEN,
    command=Command("TurnOn", {"name": "lamp", "level": 3}, 0.98),
    open_text="turn on the lamb",
    raw_text="turn on the land",
    tags={"language": "en", "emotion": "NEUTRAL"},
    speaker=Speaker("Anna", 0.71234),
)
FIELDS = {
    "intent": "TurnOn",
    "slots": {"name": "lamp", "level": 3},
    "score": 0.98,
    "open_text": "turn on the lamb",
    "raw_text": "turn on the land",
    "tags": {"language": "en", "emotion": "NEUTRAL"},
    "speaker": {"name": "Anna", "score": 0.7123},
}
TEMPLATES = "language: en"
ASKED = {"commands": TEMPLATES, "itn": True, "punctuation": False}


def asked_of(options: SessionOptions) -> dict[str, Any]:
    return {name: getattr(options, name) for name in ASKED}


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
    options = session_of(talk, json.dumps({"config": ASKED}), b"\0\0")
    said(talk, MEANT)
    assert (asked_of(options), within(last(talk.caught_up()))) == (ASKED, FIELDS)


def test_sherpa() -> None:
    query = {"commands": TEMPLATES, "itn": "true", "punctuation": "false"}
    talk = SherpaConversation(Handshake(query=query))
    options = session_of(talk, bytes(4))
    assert (asked_of(options), within(last(said(talk, MEANT)))) == (ASKED, FIELDS)


def test_realtime() -> None:
    talk = RealtimeConversation()
    heard = {"transcription": ASKED}
    update = {"type": "session.update", "session": {"type": "transcription", "audio": {"input": heard}}}
    append = {"type": "input_audio_buffer.append", "audio": "AAAA"}
    options = session_of(talk, json.dumps(update), json.dumps(append))
    assert (asked_of(options), within(last(said(talk, MEANT)))) == (ASKED, FIELDS)


def test_wyoming() -> None:
    talk = WyomingConversation(1 << 20, lambda: False)
    start = {"rate": 16_000, "width": 2, "channels": 1}
    asked = WyomingEvent("transcribe", {"context": ASKED})
    options = session_of(talk, encode_event(asked), encode_event(WyomingEvent("audio-start", start)))
    decoder = WyomingDecoder(1 << 20)
    answers = [event for message in said(talk, MEANT, ended()) for event in decoder.feed(bytes(message))]  # type: ignore[arg-type]
    (transcript,) = (event for event in answers if event.type == "transcript")
    assert (asked_of(options), transcript.data["context"]) == (ASKED, FIELDS)


def test_openai() -> None:
    request = parse_form(
        [("response_format", "verbose_json"), ("commands", TEMPLATES), ("itn", "true"), ("punctuation", "false")]
    )
    (segment,) = json.loads(render(request, Transcription((MEANT,), 1.0, "en")).content)["segments"]
    assert (asked_of(request.options), within(segment)) == (ASKED, FIELDS)


@pytest.mark.parametrize("talk", [VoskConversation(), SherpaConversation(), RealtimeConversation()])
def test_open_speech_is_answered_as_the_original_does(talk: Conversation) -> None:
    answers = said(talk, OPEN) or list(talk.caught_up())
    assert within(last(answers)) == {}


def test_openai_answers_with_the_whole_text_as_heard() -> None:
    answer = json.loads(render(parse_form([]), Transcription((MEANT, OPEN), 1.0, "en")).content)
    assert (answer["text"], answer["raw_text"]) == (f"{OPEN.text} {OPEN.text}", f"turn on the land {OPEN.text}")


def test_sherpa_offline_answers_with_its_own_tags() -> None:
    answer = json.loads(offline_result([MEANT], "auto"))
    assert (answer["lang"], answer["emotion"], answer["event"]) == ("en", "NEUTRAL", "")


def test_segments_answered_as_one_have_the_raw_text_of_all() -> None:
    assert joined_fields([MEANT, OPEN]) == {"raw_text": f"turn on the land {OPEN.text}"}


def test_speech_that_was_no_command_has_its_open_text_only() -> None:
    assert final_fields(msgspec.structs.replace(OPEN, open_text="hello")) == {"open_text": "hello"}
