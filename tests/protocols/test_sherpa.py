"""sherpa-onnx's online and offline protocols."""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Iterable
from typing import Any

import pytest

from edge_asr.errors import LimitExceeded, ProtocolViolation
from edge_asr.events import Final, Word
from edge_asr.protocols.base import Conversation, Handshake, Message
from edge_asr.protocols.sherpa import SherpaConversation
from edge_asr.protocols.sherpa_offline import SherpaOfflineConversation
from edge_asr.protocols.sherpa_port import SherpaPortConversation
from edge_asr.requests import Audio, CatchUp, Finish, Open, Request
from tests.support.values import READY, ended, final, partial

SAMPLES = array("f", [0.0, 0.25, -0.5]).tobytes()
SPEECH_16_BIT = array("h", [120, -340, 561, -800, 1200, -90, 33, -2] * 200).tobytes()


def sent(talk: Conversation, *messages: Message) -> list[Request]:
    return [request for message in messages for request in talk.receive(message)]


def parsed(messages: Iterable[Message]) -> list[Any]:
    return [message if message == "Done!" else json.loads(message) for message in messages]


def test_the_first_samples_open_a_session_of_floats_at_16_khz() -> None:
    opened, audio = sent(SherpaConversation(), SAMPLES)
    assert isinstance(opened, Open)
    assert (opened.options.sample_rate_hz, opened.options.encoding) == (16_000, "f32le")
    assert audio == Audio(SAMPLES)


def test_options_stand_in_the_query_of_the_url() -> None:
    query = {"language": "en", "model": "starter-en", "hotwords": "kitchen", "endpoint_silence_ms": "500", "x": "1"}
    opened = sent(SherpaConversation(Handshake(query=query)), SAMPLES)[0]
    assert isinstance(opened, Open)
    options = opened.options
    assert (options.language, options.model, options.hotwords) == ("en", "starter-en", ("kitchen",))
    assert options.endpoint_silence_ms == 500


def test_a_query_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ProtocolViolation, match="endpoint_silence_ms"):
        SherpaConversation(Handshake(query={"endpoint_silence_ms": "soon"}))


def test_a_result_has_the_fields_of_the_original() -> None:
    word = Word("go", 2.5, 2.75, 0.5)
    (result,) = parsed(SherpaConversation().deliver(Final("s", 3, "go", (word,), 2.0, 3.0, "silence", 0)))
    assert result == {
        "text": "go",
        "tokens": [" go"],
        "timestamps": [0.5],
        "ys_probs": [-0.693147],
        "lm_probs": [],
        "context_scores": [],
        "segment": 3,
        "words": [],
        "start_time": 2.0,
        "is_final": True,
        "is_eof": False,
    }


def test_a_partial_is_not_final() -> None:
    (result,) = parsed(SherpaConversation().deliver(partial("go for", 2)))
    assert (result["text"], result["is_final"], result["is_eof"]) == ("go for", False, False)


def test_the_end_is_said_once_and_then_done() -> None:
    talk = SherpaConversation()
    assert sent(talk, SAMPLES, "Done")[-1] == Finish()
    last, *nothing = parsed(talk.deliver(final("go")))
    assert (last["is_final"], last["is_eof"], nothing) == (True, True, [])
    assert parsed(talk.deliver(ended())) == ["Done!"]


def test_an_end_without_text_has_its_result_too() -> None:
    talk = SherpaConversation()
    sent(talk, SAMPLES, "Done")
    result, done = parsed(talk.deliver(ended(audio_s=2.0)))
    assert (result["text"], result["is_eof"], done) == ("", True, "Done!")


def test_done_without_audio_is_answered() -> None:
    talk = SherpaConversation()
    assert sent(talk, "Done") == [CatchUp()]
    assert parsed(talk.caught_up())[-1] == "Done!"


def test_a_second_done_is_harmless() -> None:
    talk = SherpaConversation()
    sent(talk, SAMPLES, "Done")
    assert sent(talk, "Done") == []


def test_another_stream_may_follow() -> None:
    talk = SherpaConversation()
    sent(talk, SAMPLES, "Done")
    list(talk.deliver(ended()))
    assert isinstance(sent(talk, SAMPLES)[0], Open)


def test_another_stream_may_be_sent_before_the_first_is_answered() -> None:
    talk = SherpaConversation()
    sent(talk, SAMPLES, "Done")
    following = talk.receive(SAMPLES)
    assert isinstance(next(following), Open)
    list(talk.deliver(ended()))  # by now the driver has waited for it
    assert list(following) == [Audio(SAMPLES)]
    assert sent(talk, "Done") == [Finish()]


@pytest.mark.parametrize("start", [0, 1, 2, 3])
def test_16_bit_samples_are_not_taken_for_floats(start: int) -> None:
    with pytest.raises(ProtocolViolation, match="16-bit samples must be divided by 32768"):
        sent(SherpaConversation(), SPEECH_16_BIT[: 4 * 30 + start], SPEECH_16_BIT[4 * 30 + start :])


def test_floats_of_full_16_bit_scale_are_refused() -> None:
    loud = array("f", [1200.0, -3000.0] * 1000).tobytes()
    with pytest.raises(ProtocolViolation, match="such as 3000"):
        sent(SherpaConversation(), loud)


def test_silence_and_quiet_floats_are_taken() -> None:
    quiet = array("f", [0.0, 1e-5, -1e-6] * 1000).tobytes()
    assert len(sent(SherpaConversation(), bytes(64_000), quiet)) == 3


@pytest.mark.parametrize("size", [6401, 6402, 12801])
def test_floats_behind_silence_may_be_cut_inside_a_sample(size: int) -> None:
    data = bytes(4 * 4000) + array("f", [0.1, -0.3] * 2000).tobytes()
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    requests = sent(SherpaConversation(), *pieces)
    assert b"".join(request.data for request in requests if isinstance(request, Audio)) == data


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(ProtocolViolation, match="must be 'Done'"):
        sent(SherpaConversation(), "done?")


def recording(samples: bytes = SAMPLES, rate: int = 8000) -> bytes:
    return struct.pack("<ii", rate, len(samples)) + samples


def offline() -> SherpaOfflineConversation:
    return SherpaOfflineConversation(60.0)


def test_a_recording_is_one_session_at_its_own_rate() -> None:
    opened, *rest = sent(offline(), recording())
    assert isinstance(opened, Open)
    assert (opened.options.sample_rate_hz, opened.options.partials, opened.options.is_batch) == (8000, False, True)
    assert rest == [Audio(SAMPLES), Finish()]


@pytest.mark.parametrize("size", [1, 3, 7, 8, 9, 15])
def test_a_recording_may_be_cut_anywhere(size: int) -> None:
    whole = recording() + recording(rate=16_000)
    requests = sent(offline(), *(whole[start : start + size] for start in range(0, len(whole), size)))
    assert [request.options.sample_rate_hz for request in requests if isinstance(request, Open)] == [8000, 16_000]
    assert b"".join(request.data for request in requests if isinstance(request, Audio)) == SAMPLES + SAMPLES
    assert sum(isinstance(request, Finish) for request in requests) == 2


def test_a_recording_without_samples_is_answered() -> None:
    assert [type(request) for request in sent(offline(), recording(b""))] == [Open, Finish]


def test_the_answer_holds_all_segments() -> None:
    talk = offline()
    sent(talk, recording())
    list(talk.opened("s", READY))
    assert list(talk.deliver(final("go"))) == list(talk.deliver(final("on", segment=1, start_s=1.0, end_s=2.0))) == []
    (answer,) = parsed(talk.deliver(ended()))
    assert (answer["text"], answer["lang"], answer["timestamps"]) == ("go on", "en", [0.0, 1.0])


def test_done_ends_the_connection_once_all_is_answered() -> None:
    talk = offline()
    sent(talk, recording(), "Done")
    assert not talk.is_over
    list(talk.deliver(ended()))
    assert talk.is_over


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        ([struct.pack("<ii", 100, 8)], "sample rate 100 Hz"),
        ([struct.pack("<ii", 8000, 7)], "7 bytes of samples"),
        ([recording()[:-4], "Done"], "in the middle of a recording: 4 bytes miss"),
        (["Done", recording()], "audio after 'Done'"),
    ],
)
def test_what_is_wrong_with_a_recording_is_said(messages: list[Message], sentence: str) -> None:
    with pytest.raises(ProtocolViolation, match=sentence):
        sent(offline(), *messages)


def test_a_recording_longer_than_allowed_is_refused_by_its_header() -> None:
    with pytest.raises(LimitExceeded, match=r"limits\.max_upload_s: a recording of 61\.0 s"):
        sent(offline(), struct.pack("<ii", 8000, 4 * 8000 * 61))


@pytest.mark.parametrize(
    ("message", "protocol"), [(recording(), "sherpa-offline"), (SAMPLES, "sherpa"), ("Done", "sherpa")]
)
def test_a_port_of_both_goes_by_the_first_message(message: Message, protocol: str) -> None:
    talk = SherpaPortConversation(60.0, Handshake())
    sent(talk, message)
    assert talk.protocol == protocol
