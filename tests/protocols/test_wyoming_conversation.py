"""Which Wyoming event may come when, and what is answered; events are parsed with the reference package's classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from wyoming.event import Event
from wyoming.info import Info

from edge_asr.errors import NotReady, ProtocolViolation
from edge_asr.events import Failed, TranscriptEvent
from edge_asr.protocols.base import Message
from edge_asr.protocols.wyoming import WyomingDecoder, WyomingEvent, encode_event
from edge_asr.protocols.wyoming_conversation import WyomingConversation
from edge_asr.requests import Audio, Describe, Finish, Open, Ping, Request
from edge_asr.workers.base import OfferedModel
from edge_asr.workers.messages import Ready
from tests.support.values import READY, REWRITING, SERVING, STARTING, ended, final, partial

FORMAT = {"rate": 16000, "width": 2, "channels": 1}
START = WyomingEvent("audio-start", FORMAT)
CHUNK = WyomingEvent("audio-chunk", FORMAT, b"\x01\x02")
STOP = WyomingEvent("audio-stop")


def conversation(*, can_stream: bool = True) -> WyomingConversation:
    return WyomingConversation(1 << 20, lambda: can_stream)


def sent(talk: WyomingConversation, *events: WyomingEvent) -> list[Request]:
    return [request for event in events for request in talk.receive(encode_event(event))]


def answers(messages: Iterable[Message]) -> list[WyomingEvent]:
    decoder = WyomingDecoder(1 << 20)
    return [event for message in messages for event in decoder.feed(message)]  # type: ignore[arg-type]


def said(talk: WyomingConversation, *events: TranscriptEvent, ready: Ready = READY) -> list[tuple[str, Any]]:
    replies = answers(talk.opened("s", ready))
    for event in events:
        replies += answers(talk.deliver(event))
    return [(reply.type, reply.data.get("text")) for reply in replies]


def test_home_assistants_order_becomes_one_session() -> None:
    requests = sent(conversation(), WyomingEvent("transcribe", {"language": "en"}), START, CHUNK, CHUNK, STOP)
    assert isinstance(requests[0], Open)
    assert requests[0].options.language == "en"
    assert requests[0].options.sample_rate_hz == 16_000
    assert requests[1:] == [Audio(b"\x01\x02"), Audio(b"\x01\x02"), Finish()]


def test_names_come_before_terms_as_hotwords_and_too_many_are_cut() -> None:
    asked = {"transcript_names": ["Kitchen", " ", "Kitchen"], "transcript_terms": [f"term {n}" for n in range(2000)]}
    (opened,) = sent(conversation(), WyomingEvent("transcribe", asked), START)
    assert isinstance(opened, Open)
    assert opened.options.hotwords[:2] == ("Kitchen", "term 0")
    assert len(opened.options.hotwords) == 1000


@pytest.mark.parametrize(("sensitivity", "silence_ms"), [("relaxed", 2000), ("aggressive", 600), ("default", None)])
def test_the_sensitivity_is_the_silence_that_closes_a_segment(sensitivity: str, silence_ms: int | None) -> None:
    (opened,) = sent(conversation(), WyomingEvent("transcribe", {"vad_sensitivity": sensitivity}), START)
    assert isinstance(opened, Open)
    assert opened.options.endpoint_silence_ms == silence_ms


def test_the_context_may_hold_what_wyoming_has_no_words_for() -> None:
    context = {"partials": False, "endpoint_silence_ms": 700, "conversation": "x"}
    (opened,) = sent(conversation(), WyomingEvent("transcribe", {"context": context}), START)
    assert isinstance(opened, Open)
    assert (opened.options.partials, opened.options.endpoint_silence_ms) == (False, 700)


def test_the_info_says_why_names_are_ignored() -> None:
    talk = conversation()
    (info,) = answers(talk.described(SERVING))
    assert "names and terms are ignored: its decoder cannot" in info.data["asr"][0]["models"][0]["description"]


def test_models_beside_the_active_one_are_listed_with_their_languages() -> None:
    status = msgspec.structs.replace(SERVING, offered=(OfferedModel("t-one-ru", ("ru",)),))
    (info,) = answers(conversation().described(status))
    (program,) = Info.from_event(Event(type=info.type, data=info.data)).asr
    assert [(model.name, model.languages) for model in program.models] == [("starter-en", ["en"]), ("t-one-ru", ["ru"])]


def test_the_model_is_asked_for_by_the_name_in_transcribe() -> None:
    (opened,) = sent(conversation(), WyomingEvent("transcribe", {"name": "moonshine-tiny-en"}), START)
    assert isinstance(opened, Open)
    assert opened.options.model == "moonshine-tiny-en"


def test_partials_are_asked_for_only_when_they_can_be_passed_on() -> None:
    (streamed,) = sent(conversation(can_stream=True), START)
    (whole,) = sent(conversation(can_stream=False), START)
    assert isinstance(streamed, Open)
    assert isinstance(whole, Open)
    assert (streamed.options.partials, whole.options.partials) == (True, False)


def test_a_chunk_without_audio_start_opens_the_session() -> None:
    assert [type(request) for request in sent(conversation(), CHUNK)] == [Open, Audio]


def test_wider_samples_and_more_channels_are_taken() -> None:
    (opened,) = sent(conversation(), WyomingEvent("audio-start", {"rate": 48000, "width": 4, "channels": 2}))
    assert isinstance(opened, Open)
    assert (opened.options.encoding, opened.options.channels) == ("s32le", 2)


def test_describe_and_ping_are_taken_at_any_time() -> None:
    talk = conversation()
    describe, ping = WyomingEvent("describe"), WyomingEvent("ping", {"text": "x"})
    requests = sent(talk, describe, START, ping, CHUNK, describe, STOP, ping)
    assert [request for request in requests if isinstance(request, Describe | Ping)] == [
        Describe(),
        Ping("x"),
        Describe(),
        Ping("x"),
    ]


def test_events_of_other_domains_are_dropped() -> None:
    assert sent(conversation(), WyomingEvent("voice-started"), WyomingEvent("detection", {"name": "hey"})) == []


def test_a_chunk_just_after_the_stop_is_dropped() -> None:
    assert [type(request) for request in sent(conversation(), START, STOP, CHUNK)] == [Open, Finish]


def test_a_stop_without_a_start_asks_for_nothing() -> None:
    assert sent(conversation(), STOP) == []


def test_the_end_of_the_connection_is_the_end_of_the_audio() -> None:
    talk = conversation()
    sent(talk, START, CHUNK)
    assert list(talk.end_of_input()) == [Finish()]


def test_a_connection_cut_inside_an_event_is_a_violation() -> None:
    talk = conversation()
    list(talk.receive(encode_event(CHUNK)[:-1]))
    with pytest.raises(ProtocolViolation, match="in the middle of an event"):
        list(talk.end_of_input())


def test_a_second_utterance_on_the_same_connection_is_a_second_session() -> None:
    talk = conversation()
    sent(talk, START, CHUNK, STOP)
    assert said(talk, final("go"), ended())[-2] == ("transcript", "go")
    assert [type(request) for request in sent(talk, START, CHUNK, STOP)] == [Open, Audio, Finish]
    assert said(talk, final("stop"), ended())[-2] == ("transcript", "stop")


def test_the_next_utterance_may_be_sent_before_the_transcript() -> None:
    talk = conversation()
    assert [type(request) for request in sent(talk, START, STOP, START)] == [Open, Finish, Open]
    said(talk, final("go"), ended())
    assert [type(request) for request in sent(talk, CHUNK, STOP)] == [Audio, Finish]


@pytest.mark.parametrize("key", ["rate", "width", "channels"])
def test_a_format_that_changes_within_an_utterance_is_refused(key: str) -> None:
    talk = conversation()
    sent(talk, START)
    with pytest.raises(ProtocolViolation, match="the audio changed from 16000 Hz, 2 bytes, 1 channels to"):
        sent(talk, WyomingEvent("audio-chunk", {**FORMAT, key: 3}, b"\0\0"))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"width": 2, "channels": 1}, "audio-start needs rate as a positive whole number, not None"),
        ({"rate": True, "width": 2, "channels": 1}, "not True"),
        ({"rate": 16000, "width": 5, "channels": 1}, "samples of 5 bytes are not known"),
        ({"rate": 100, "width": 2, "channels": 1}, "sample rate 100 Hz is outside"),
        ({"rate": 16000, "width": 2, "channels": 99}, "99 channels: 1 to 8"),
    ],
)
def test_an_audio_format_that_cannot_be_is_refused(data: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ProtocolViolation) as caught:
        sent(conversation(), WyomingEvent("audio-start", data))
    assert sentence in str(caught.value)


def test_a_second_start_before_the_stop_is_refused() -> None:
    with pytest.raises(ProtocolViolation, match="before the audio-stop"):
        sent(conversation(), START, START)


def test_a_model_that_rewrites_gives_one_transcript_and_no_chunks() -> None:
    events = (partial("a", 1), final("turn on"), final("the light", segment=1), ended())
    assert said(conversation(), *events, ready=REWRITING) == [("transcript", "turn on the light")]


def test_an_append_only_model_gives_chunks_that_concatenate_to_the_transcript() -> None:
    replies = said(conversation(), partial("turn o", 5), final("turn on"), final("the light", segment=1), ended())
    assert replies == [
        ("transcript-start", None),
        ("transcript-chunk", "turn "),
        ("transcript-chunk", "on"),
        ("transcript-chunk", " the light"),
        ("transcript", "turn on the light"),
        ("transcript-stop", None),
    ]


def test_silence_gives_an_empty_transcript_and_no_error() -> None:
    assert said(conversation(), ended(), ready=REWRITING) == [("transcript", "")]
    assert said(conversation(), ended()) == [
        ("transcript-start", None),
        ("transcript", ""),
        ("transcript-stop", None),
    ]


def test_the_transcript_names_the_language_that_was_asked_for() -> None:
    talk = conversation()
    sent(talk, WyomingEvent("transcribe", {"language": "en-GB"}), START, STOP)
    list(talk.opened("s", REWRITING))
    (transcript,) = answers(talk.deliver(ended()))
    assert transcript.data["language"] == "en-GB"


def test_a_failure_is_an_error_event_and_ends_the_conversation() -> None:
    talk = conversation()
    sent(talk, START)
    (error,) = answers(talk.deliver(Failed("s", "worker_died", "the recogniser ended", True)))
    assert error == WyomingEvent("error", {"text": "the recogniser ended", "code": "worker_died"})
    assert talk.is_over


def test_a_refusal_is_an_error_event_and_ends_the_conversation() -> None:
    talk = conversation()
    (error,) = answers(talk.refused(NotReady("the model is being loaded")))
    assert (error.data["code"], error.data["retry_after_s"]) == ("not_ready", 1.0)
    assert talk.is_over


def parsed_info(talk: WyomingConversation, loaded: bool = True) -> Info:
    (event,) = answers(talk.described(SERVING if loaded else STARTING))
    return Info.from_event(Event(event.type, event.data))


def test_info_lists_the_loaded_model() -> None:
    (program,) = parsed_info(conversation()).asr
    assert program.installed
    assert program.supports_transcript_streaming
    assert [(model.name, model.languages) for model in program.models] == [("starter-en", ["en"])]


def test_info_lists_no_model_before_it_is_loaded() -> None:
    (program,) = parsed_info(conversation(), loaded=False).asr
    assert (program.installed, program.models, program.supports_transcript_streaming) == (False, [], False)


def test_a_ping_is_answered_with_its_text() -> None:
    assert answers(conversation().answered(Ping("x"))) == [WyomingEvent("pong", {"text": "x"})]
