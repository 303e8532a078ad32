"""Vosk's protocol: exactly one answer to every message, spelled as Vosk spells it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from edge_asr.errors import ProtocolViolation
from edge_asr.events import Failed
from edge_asr.protocols.base import Handshake, Message
from edge_asr.protocols.vosk import VoskConversation
from edge_asr.requests import Audio, CatchUp, Finish, Open, Request
from tests.support.values import READY, ended, final, partial

AUDIO = b"\x01\x02"


def sent(talk: VoskConversation, *messages: Message) -> list[Request]:
    return [request for message in messages for request in talk.receive(message)]


def parsed(messages: Iterable[Message]) -> list[Any]:
    return [json.loads(message) for message in messages]


def listening(*configs: str) -> VoskConversation:
    talk = VoskConversation()
    sent(talk, *configs, AUDIO)
    list(talk.opened("s", READY))
    return talk


def test_the_first_audio_opens_a_session_at_the_rate_of_the_config() -> None:
    (opened, *rest) = sent(VoskConversation(), '{ "config" : { "sample_rate" : 16000 } }', AUDIO)
    assert isinstance(opened, Open)
    assert (opened.options.sample_rate_hz, opened.options.encoding) == (16_000, "s16le")
    assert rest == [Audio(AUDIO), CatchUp()]


def test_without_a_config_the_audio_is_taken_for_8_khz_as_by_the_original() -> None:
    opened = sent(VoskConversation(), AUDIO)[0]
    assert isinstance(opened, Open)
    assert opened.options.sample_rate_hz == 8000


def test_the_config_carries_model_language_hotwords_and_the_endpoint_rule() -> None:
    config = {
        "phrase_list": ["on", "off", "[unk]"],
        "model": "starter-en",
        "language": "en",
        "endpoint_silence_ms": 500,
        "partials": False,
    }
    opened = sent(VoskConversation(), json.dumps({"config": config}), AUDIO)[0]
    assert isinstance(opened, Open)
    options = opened.options
    assert (options.hotwords, options.model, options.language) == (("on", "off"), "starter-en", "en")
    assert (options.endpoint_silence_ms, options.partials) == (500, False)


def test_the_query_of_the_url_says_the_same() -> None:
    handshake = Handshake(query={"language": "en", "hotwords": "kitchen, living room", "sample_rate_hz": "16000"})
    opened = sent(VoskConversation(handshake), AUDIO)[0]
    assert isinstance(opened, Open)
    assert opened.options.hotwords == ("kitchen", "living room")
    assert opened.options.sample_rate_hz == 16_000


def test_an_answer_without_news_is_spelled_as_vosk_spells_it() -> None:
    assert list(listening().caught_up()) == ['{\n  "partial" : ""\n}']


def test_a_result_is_spelled_as_vosk_spells_it() -> None:
    talk = listening()
    list(talk.deliver(final("go on", end_s=1.0)))
    assert list(talk.caught_up()) == [
        '{\n  "result" : [{\n'
        '      "conf" : 0.500000,\n'
        '      "end" : 0.500000,\n'
        '      "start" : 0.000000,\n'
        '      "word" : "go"\n'
        "    }, {\n"
        '      "conf" : 0.500000,\n'
        '      "end" : 1.000000,\n'
        '      "start" : 0.500000,\n'
        '      "word" : "on"\n'
        "    }],\n"
        '  "text" : "go on"\n}'
    ]


def test_every_message_has_one_answer_and_no_result_is_lost() -> None:
    talk = listening()
    for event in (partial("go", 2), final("go"), partial("stop", 0, segment=1), final("stop", segment=1)):
        assert list(talk.deliver(event)) == []
    assert [parsed(talk.caught_up())[0]["text"] for _ in range(2)] == ["go", "stop"]
    assert parsed(talk.caught_up()) == [{"partial": ""}]


def test_a_partial_is_answered_until_its_result() -> None:
    talk = listening()
    list(talk.deliver(partial("go for", 2)))
    assert parsed(talk.caught_up()) == [{"partial": "go for"}]


def test_the_end_is_one_result_of_all_that_is_left() -> None:
    talk = listening()
    assert sent(talk, '{"eof" : 1}') == [Finish()]
    assert list(talk.deliver(final("go"))) == list(talk.deliver(final("on", segment=1))) == []
    (last,) = parsed(talk.deliver(ended()))
    assert last["text"] == "go on"
    assert [word["word"] for word in last["result"]] == ["go", "on"]
    assert talk.is_over


@pytest.mark.parametrize("end", ['{"eof" : 1}', '{"eof":1}', '{ "eof": true }'])
def test_an_end_without_audio_is_answered_too(end: str) -> None:
    talk = VoskConversation()
    assert sent(talk, end) == [CatchUp()]
    assert list(talk.caught_up()) == ['{\n  "text" : ""\n}']
    assert talk.is_over


def test_a_second_end_is_harmless() -> None:
    talk = listening()
    sent(talk, '{"eof" : 1}')
    assert sent(talk, '{"eof" : 1}', AUDIO) == []


def test_after_a_reset_the_clock_goes_on() -> None:
    talk = listening()
    assert sent(talk, '{"reset" : 1}') == [Finish()]
    assert parsed(talk.deliver(ended(audio_s=2.5))) == [{"text": ""}]
    assert not talk.is_over
    assert isinstance(sent(talk, AUDIO)[0], Open)
    list(talk.deliver(final("go", start_s=1.0, end_s=1.5)))
    (result,) = parsed(talk.caught_up())
    assert (result["result"][0]["start"], result["result"][0]["end"]) == (3.5, 4.0)


def test_without_words_a_result_is_its_text() -> None:
    talk = listening('{"config": {"words": false}}')
    list(talk.deliver(final("go")))
    assert list(talk.caught_up()) == ['{\n  "text" : "go"\n}']


def test_alternatives_are_a_list_of_one() -> None:
    talk = listening('{"config": {"max_alternatives": 3}}')
    list(talk.deliver(final("go")))
    (answer,) = parsed(talk.caught_up())
    assert answer == {
        "alternatives": [{"confidence": 0.5, "result": [{"end": 1.0, "start": 0.0, "word": "go"}], "text": "go"}]
    }


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("{", "is not JSON"),
        ("[1]", "must be a JSON object"),
        ('{"pause": 1}', "none of config, reset and eof"),
        ('{"config": {"sample_rate": "high"}}', "sample_rate"),
        ('{"config": {"sample_rate": 100}}', "sample rate 100 Hz is outside"),
        ('{"config": {"sample_rate": 16000}}', "cannot change from 8000 Hz to 16000 Hz now"),
    ],
)
def test_what_is_wrong_is_said(message: str, sentence: str) -> None:
    with pytest.raises(ProtocolViolation, match=sentence):
        sent(listening(), message)


def test_a_failure_ends_the_conversation() -> None:
    talk = listening()
    assert list(talk.deliver(Failed("s", "worker_died", "the recogniser process ended", True))) == []
    assert talk.is_over
