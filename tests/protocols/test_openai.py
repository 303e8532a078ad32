"""OpenAI's transcription endpoint as values: fields in, bodies out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from edge_asr.errors import AudioUnreadable, AudioUnsupported, EdgeAsrError, LimitExceeded, ModelNotFound, Overloaded
from edge_asr.events import Failed
from edge_asr.protocols.openai import ParameterRefused, Transcription, parse_form, render, render_error, render_models
from tests.support.values import final

FINALS = (final("go forward", start_s=0.5, end_s=1.5), final("ten meters", segment=1, start_s=2.0, end_s=3.0))
SPOKEN = Transcription(FINALS, 3.25, "en")


def rendered(*fields: tuple[str, str]) -> Any:
    body = render(parse_form(fields), SPOKEN)
    assert (body.status, body.media_type) == (200, "application/json")
    return json.loads(body.content)


def test_an_upload_is_batch_work_without_partials() -> None:
    options = parse_form([("model", "starter-en"), ("language", "en")]).options
    assert (options.is_batch, options.partials, options.model, options.language) == (True, False, "starter-en", "en")


@pytest.mark.parametrize("name", ["whisper-1", "gpt-4o-transcribe", ""])
def test_openais_own_model_names_mean_the_active_model(name: str) -> None:
    assert parse_form([("model", name)]).options.model == ""


@pytest.mark.parametrize(
    ("field", "param"),
    [
        (("response_format", "diarized_json"), "response_format"),
        (("temperature", "hot"), "temperature"),
        (("temperature", "2"), "temperature"),
        (("temperature", "nan"), "temperature"),
        (("timestamp_granularities[]", "word"), "timestamp_granularities"),
        (("include[]", "speakers"), "include"),
        (("chunking_strategy", "sometimes"), "chunking_strategy"),
    ],
)
def test_a_field_that_cannot_be_served_is_refused_by_name(field: tuple[str, str], param: str) -> None:
    with pytest.raises(ParameterRefused) as caught:
        parse_form([field])
    body = render_error(caught.value)
    error = json.loads(body.content)["error"]
    assert (body.status, error["param"], error["type"]) == (400, param, "invalid_request_error")
    assert error["message"].startswith(f"{param}: ")


def test_a_streamed_answer_has_no_subtitles() -> None:
    with pytest.raises(ParameterRefused, match="is for response_format json, not srt"):
        parse_form([("stream", "true"), ("response_format", "srt")])


def test_hotwords_and_the_endpoint_rule_reach_the_session() -> None:
    options = parse_form([("keywords[]", "kitchen"), ("keywords[]", " ")]).options
    assert (options.hotwords, options.endpoint_silence_ms) == (("kitchen",), None)


@pytest.mark.parametrize(
    "fields",
    [
        [("chunking_strategy", '{"type":"server_vad","silence_duration_ms":700}')],
        [("chunking_strategy[type]", "server_vad"), ("chunking_strategy[silence_duration_ms]", "700")],
    ],
)
def test_the_endpoint_rule_comes_as_json_or_as_fields(fields: list[tuple[str, str]]) -> None:
    assert parse_form(fields).options.endpoint_silence_ms == 700


def test_what_is_out_of_range_is_refused() -> None:
    with pytest.raises(ParameterRefused, match="endpoint silence 7 ms"):
        parse_form([("chunking_strategy", '{"type":"server_vad","silence_duration_ms":7}')])


def test_log_probabilities_are_those_of_words() -> None:
    answer = rendered(("include[]", "logprobs"))
    assert answer["logprobs"][0] == {"token": "go", "logprob": -0.693147, "bytes": [103, 111]}
    assert len(answer["logprobs"]) == 4


def test_fields_that_change_nothing_here_are_accepted() -> None:
    parse_form([("prompt", "names"), ("temperature", "0.2"), ("stream", "false"), ("colour", "blue")])


def test_json_has_the_text_of_all_segments() -> None:
    assert rendered() == {"text": "go forward ten meters", "usage": {"type": "duration", "seconds": 3.25}}


def test_text_is_the_bare_text() -> None:
    body = render(parse_form([("response_format", "text")]), SPOKEN)
    assert body.content == b"go forward ten meters\n"


def test_verbose_json_lists_segments_with_openais_fields() -> None:
    body = rendered(("response_format", "verbose_json"))
    assert "words" not in body
    assert (body["task"], body["language"], body["duration"]) == ("transcribe", "en", 3.25)
    assert body["segments"][1] == {
        "id": 1,
        "seek": 200,
        "start": 2.0,
        "end": 3.0,
        "text": "ten meters",
        "tokens": [],
        "temperature": 0.0,
        "avg_logprob": -0.6931,
        "compression_ratio": 0.556,
        "no_speech_prob": 0.0,
    }


def test_words_are_listed_when_asked_for_and_then_alone() -> None:
    body = rendered(("response_format", "verbose_json"), ("timestamp_granularities[]", "word"))
    assert "segments" not in body
    assert body["words"][:2] == [
        {"word": "go", "start": 0.5, "end": 1.0},
        {"word": "forward", "start": 1.0, "end": 1.5},
    ]


def test_words_and_segments_are_both_listed_when_both_are_asked_for() -> None:
    both = [("timestamp_granularities[]", "word"), ("timestamp_granularities[]", "segment")]
    body = rendered(("response_format", "verbose_json"), *both)
    assert (len(body["words"]), len(body["segments"])) == (4, 2)


def test_srt_and_vtt_are_subtitle_files() -> None:
    srt = render(parse_form([("response_format", "srt")]), SPOKEN)
    vtt = render(parse_form([("response_format", "vtt")]), SPOKEN)
    assert srt.content.startswith(b"1\n00:00:00,500 --> 00:00:01,500\ngo forward\n\n2\n")
    assert vtt.content.startswith(b"WEBVTT\n\n00:00:00.500 --> 00:00:01.500\ngo forward\n\n")


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (AudioUnreadable("upload", "it is empty"), 400, "invalid_request_error"),
        (ModelNotFound("x", "pull it"), 404, "invalid_request_error"),
        (LimitExceeded("limits.max_upload_bytes", "2", "1"), 413, "invalid_request_error"),
        (AudioUnsupported("upload", "no decoder"), 415, "invalid_request_error"),
        (Overloaded("all 1 sessions are in use"), 503, "server_error"),
        (Failed("s", "engine_failed", "it failed"), 500, "server_error"),
        (Failed("s", "audio_unreadable", "not audio"), 400, "invalid_request_error"),
    ],
)
def test_errors_have_openais_shape_and_a_fitting_status(error: EdgeAsrError | Failed, status: int, kind: str) -> None:
    body = render_error(error)
    assert body.status == status
    assert json.loads(body.content)["error"]["type"] == kind
    assert json.loads(body.content)["error"]["code"] == error.code


def test_an_error_that_may_pass_says_when_to_try_again() -> None:
    assert render_error(Overloaded("all 4 sessions are in use", retry_after_s=2.5)).retry_after_s == 2.5
    assert render_error(AudioUnreadable("upload", "it is empty")).retry_after_s is None


def test_models_lists_what_can_be_asked_for() -> None:
    assert json.loads(render_models(()).content)["data"] == []
    models = json.loads(render_models(("starter-en", "moonshine-tiny-en")).content)["data"]
    assert [model["id"] for model in models] == ["starter-en", "moonshine-tiny-en"]
