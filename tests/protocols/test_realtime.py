"""OpenAI's realtime transcription: turns by the client's commit or by silence, and errors that do not end it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from openai.types.realtime.realtime_server_event import RealtimeServerEvent
from pydantic import TypeAdapter

from edge_asr.events import Failed
from edge_asr.protocols.base import Handshake, Message
from edge_asr.protocols.realtime import RealtimeConversation
from edge_asr.requests import Audio, Discard, Finish, Open, Ping, Request
from edge_asr.workers.messages import Ready
from tests.support.values import READY, REWRITING, ended, final, partial

COMPLETED = "conversation.item.input_audio_transcription.completed"
DELTA = "conversation.item.input_audio_transcription.delta"
SAMPLES = bytes(4800)
PUBLISHED: TypeAdapter[Any] = TypeAdapter(RealtimeServerEvent)


class Client:
    """Sends events, executes requests as the driver does, and collects what is said.

    Every event must be one of those that OpenAI publishes, but for the beta's and for rates that only we take.
    """

    def __init__(self, ready: Ready = READY, headers: Mapping[str, str] | None = None) -> None:
        self.talk = RealtimeConversation(Handshake(headers=headers or {}))
        self.ready = ready
        self.requests: list[Request] = []
        self.said: list[dict[str, Any]] = []
        self._hear(self.talk.greeting())

    def send(self, kind: str, **fields: Any) -> None:
        for request in self.talk.receive(json.dumps({"type": kind, **fields})):
            self.requests.append(request)
            if isinstance(request, Ping):
                self._hear(self.talk.answered(request))
            elif isinstance(request, Open):
                self._hear(self.talk.opened(f"s{len(self.requests)}", self.ready))

    def append(self, samples: bytes = SAMPLES) -> None:
        self.send("input_audio_buffer.append", audio=base64.b64encode(samples).decode())

    def manual(self) -> None:
        self.send("session.update", session={"type": "transcription", "audio": {"input": {"turn_detection": None}}})

    def deliver(self, *events: Any) -> None:
        for event in events:
            self._hear(self.talk.deliver(event))

    def kinds(self) -> list[str]:
        return [event["type"].removeprefix("conversation.item.input_audio_transcription") for event in self.said]

    def texts(self, kind: str, name: str) -> list[Any]:
        return [event[name] for event in self.said if event["type"] == kind]

    def opened(self) -> Any:
        return next(request.options for request in reversed(self.requests) if isinstance(request, Open))

    def _hear(self, messages: Iterable[Message]) -> None:
        for message in messages:
            event = json.loads(message)
            if not event["type"].startswith("transcription_session") and '"rate":16000' not in str(message):
                PUBLISHED.validate_python(event)
            self.said.append(event)


def test_the_server_speaks_first() -> None:
    (created,) = Client().said
    assert created["type"] == "session.created"
    assert created["session"]["audio"]["input"]["format"] == {"type": "audio/pcm", "rate": 24_000}
    assert created["session"]["audio"]["input"]["turn_detection"]["type"] == "server_vad"


def test_the_first_audio_opens_a_session_of_24_khz_16_bit() -> None:
    client = Client()
    client.append()
    options = client.opened()
    assert (options.sample_rate_hz, options.encoding, options.endpoint_silence_ms) == (24_000, "s16le", 500)
    assert client.requests[-1] == Audio(SAMPLES)


@pytest.mark.parametrize(
    ("asked", "encoding", "rate"),
    [
        ({"audio": {"input": {"format": {"type": "audio/pcmu"}}}}, "mulaw", 8000),
        ({"audio": {"input": {"format": {"type": "audio/pcma"}}}}, "alaw", 8000),
        ({"audio": {"input": {"format": {"type": "audio/pcm", "rate": 16000}}}}, "s16le", 16_000),
        ({"input_audio_format": "g711_ulaw"}, "mulaw", 8000),
        ({"input_audio_format": "g711_alaw"}, "alaw", 8000),
        ({"input_audio_format": "pcm16"}, "s16le", 24_000),
    ],
)
def test_the_format_is_said_in_either_apis_words(asked: dict[str, Any], encoding: str, rate: int) -> None:
    client = Client()
    client.send("session.update", session={"type": "transcription", **asked})
    client.append()
    assert (client.opened().encoding, client.opened().sample_rate_hz) == (encoding, rate)


def test_language_model_hotwords_and_silence_reach_the_session() -> None:
    client = Client()
    heard = {
        "transcription": {"model": "starter-en", "language": "en", "keywords": ["kitchen", "living room"]},
        "turn_detection": {"type": "server_vad", "silence_duration_ms": 700},
    }
    client.send("session.update", session={"type": "transcription", "audio": {"input": heard}})
    client.append()
    options = client.opened()
    assert (options.model, options.language, options.hotwords) == ("starter-en", "en", ("kitchen", "living room"))
    assert options.endpoint_silence_ms == 700
    assert client.said[-1]["session"]["audio"]["input"]["transcription"]["language"] == "en"


def test_openais_own_models_are_the_active_one() -> None:
    client = Client()
    heard = {"transcription": {"model": "gpt-4o-mini-transcribe"}}
    client.send("session.update", session={"type": "transcription", "audio": {"input": heard}})
    client.append()
    assert client.opened().model == ""


@pytest.mark.parametrize(("asked", "model"), [("starter-en", "starter-en"), ("gpt-realtime", "")])
def test_a_model_may_stand_in_the_url(asked: str, model: str) -> None:
    talk = RealtimeConversation(Handshake(query={"intent": "transcription", "model": asked}))
    opened = next(talk.receive('{"type":"input_audio_buffer.append","audio":"AAAA"}'))
    assert isinstance(opened, Open)
    assert opened.options.model == model


def test_the_beta_is_answered_in_its_own_words() -> None:
    client = Client(headers={"openai-beta": "realtime=v1"})
    client.send("transcription_session.update", session={"input_audio_transcription": {"language": "en"}})
    assert client.kinds() == ["transcription_session.created", "transcription_session.updated"]
    assert client.said[-1]["session"]["input_audio_transcription"]["language"] == "en"


def test_silence_ends_a_turn() -> None:
    client = Client()
    client.append()
    client.deliver(partial("go for", 2), partial("go forward", 10), final("go forward", start_s=0.5, end_s=1.5))
    assert client.kinds()[1:] == [
        "input_audio_buffer.speech_started",
        ".delta",
        ".delta",
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        ".completed",
    ]
    assert client.texts(DELTA, "delta") == ["go", " forward"]
    assert client.texts(COMPLETED, "transcript") == ["go forward"]
    assert client.texts("input_audio_buffer.speech_stopped", "audio_end_ms") == [1500]
    assert len({event["item_id"] for event in client.said if "item_id" in event}) == 1


def test_turns_know_the_one_before() -> None:
    client = Client()
    client.append()
    client.deliver(final("go"), final("stop", segment=1))
    first, second = (event for event in client.said if event["type"] == "input_audio_buffer.committed")
    assert (first["previous_item_id"], second["previous_item_id"]) == (None, first["item_id"])
    assert client.texts(COMPLETED, "transcript") == ["go", "stop"]


def test_the_clients_commit_ends_a_turn() -> None:
    client = Client()
    client.manual()
    client.append()
    client.deliver(final("go"))
    client.send("input_audio_buffer.commit")
    assert client.requests[-1] == Finish()
    client.deliver(final("forward", segment=1), ended())
    assert client.kinds()[2:] == [
        ".delta",
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        ".delta",
        ".completed",
    ]
    assert client.texts(COMPLETED, "transcript") == ["go forward"]
    assert "".join(client.texts(DELTA, "delta")) == "go forward"


def test_a_turn_without_words_is_completed_too() -> None:
    client = Client()
    client.manual()
    client.append()
    client.send("input_audio_buffer.commit")
    client.deliver(ended())
    assert client.texts(COMPLETED, "transcript") == [""]


def test_the_next_turn_opens_the_next_session_and_its_clock_goes_on() -> None:
    client = Client()
    client.append()
    client.send("input_audio_buffer.commit")
    client.deliver(ended(audio_s=2.0))
    client.append()
    client.deliver(partial("go", 0))
    assert sum(isinstance(request, Open) for request in client.requests) == 2
    assert client.texts("input_audio_buffer.speech_started", "audio_start_ms") == [2000]


def test_a_clear_forgets_the_turn() -> None:
    client = Client()
    client.manual()
    client.append(bytes(48_000))
    client.deliver(final("go"))
    client.send("input_audio_buffer.clear")
    assert client.requests[-2] == Discard()
    client.append()
    client.send("input_audio_buffer.commit")
    client.deliver(final("stop"), ended())
    assert client.texts(COMPLETED, "transcript") == ["stop"]


def test_a_model_that_rewrites_sends_only_what_is_final() -> None:
    client = Client(REWRITING)
    client.append()
    client.deliver(partial("go", 2), final("stop"))
    assert client.texts(DELTA, "delta") == ["stop"]


def test_logprobs_come_when_they_are_asked_for() -> None:
    client = Client()
    include = ["item.input_audio_transcription.logprobs"]
    client.send("session.update", session={"type": "transcription", "include": include})
    client.append()
    client.deliver(final("go"))
    assert client.said[-1]["logprobs"] == [{"token": "go", "logprob": -0.693147, "bytes": [103, 111]}]


@pytest.mark.parametrize(
    ("kind", "fields", "sentence"),
    [
        ("input_audio_buffer.commit", {}, "buffer is empty"),
        ("input_audio_buffer.append", {"audio": "!"}, "not base64"),
        ("input_audio_buffer.append", {"audio": 7}, "needs base64 text"),
        ("response.create", {}, "'response.create' is not served here"),
        ("session.update", {"session": {"type": "realtime"}}, "'realtime' is not served here"),
        ("session.update", {"session": {"input_audio_format": "mp3"}}, "'mp3' is not one of"),
        ("session.update", {"session": {"turn_detection": {"type": "x"}}}, "'x' is not one of"),
        ("session.update", {}, "session must be an object"),
    ],
)
def test_what_is_wrong_is_said_and_the_connection_goes_on(kind: str, fields: dict[str, Any], sentence: str) -> None:
    client = Client()
    client.send(kind, event_id="mine", **fields)
    error = client.said[-1]["error"]
    assert sentence in error["message"]
    assert (error["type"], error["event_id"]) == ("invalid_request_error", "mine")
    client.append()
    client.deliver(final("go"))
    assert client.texts(COMPLETED, "transcript") == ["go"]


def test_the_format_cannot_change_within_a_turn() -> None:
    client = Client()
    client.append()
    client.send("session.update", session={"input_audio_format": "g711_ulaw"})
    assert "commit or clear the buffer first" in client.said[-1]["error"]["message"]


def test_a_failed_turn_is_said_and_another_may_follow() -> None:
    client = Client()
    client.append()
    client.deliver(partial("go", 0), Failed("s", "worker_died", "the recogniser process ended", True))
    assert client.said[-1]["error"]["code"] == "worker_died"
    assert client.kinds()[-1] == ".failed"
    client.append()
    client.deliver(final("stop"))
    assert client.texts(COMPLETED, "transcript") == ["stop"]


def test_a_client_that_falls_silent_has_ended_its_turn() -> None:
    client = Client()
    client.append()
    assert list(client.talk.end_of_input())[-1] == Finish()
    assert list(client.talk.end_of_input()) == []


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"include": 5}, "session.include must be a list of strings"),
        ({"include": {"item": 1}}, "session.include must be a list of strings"),
        ({"audio": {"input": {"transcription": {"language": {}}}}}, "transcription.language must be a string"),
        ({"audio": {"input": {"transcription": {"keywords": {}}}}}, "transcription.keywords must be a list of strings"),
        ({"audio": {"input": {"turn_detection": {"silence_duration_ms": True}}}}, "is not a number of milliseconds"),
    ],
)
def test_values_of_a_wrong_type_are_named_and_change_nothing(asked: dict[str, Any], sentence: str) -> None:
    client = Client()
    client.send("session.update", session={"type": "transcription", **asked})
    assert sentence in client.said[-1]["error"]["message"]
    client.append()
    assert client.opened().language == ""


def test_a_rate_of_zero_is_not_taken_for_none_given() -> None:
    client = Client()
    audio = {"input": {"format": {"type": "audio/pcm", "rate": 0}}}
    client.send("session.update", session={"type": "transcription", "audio": audio})
    assert client.said[-1]["type"] == "error"
