"""OpenAI's ``POST /v1/audio/transcriptions``: form fields to session options, finals to response bodies.

Only values here: the fields come parsed from ``servers/upload.py``, the bodies go out through ``servers/http.py``.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import msgspec

from edge_asr.errors import EdgeAsrError, ProtocolViolation
from edge_asr.events import Failed, Final
from edge_asr.requests import SessionOptions
from edge_asr.subtitles import joined_text, srt, vtt

ResponseFormat = Literal["json", "text", "srt", "verbose_json", "vtt"]

OPENAI_MODELS = ("whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe")
"""Names that clients written for OpenAI's own service send; here they mean the active model."""

_JSON = "application/json"
_MEDIA_TYPES: dict[ResponseFormat, str] = {
    "json": _JSON,
    "verbose_json": _JSON,
    "text": "text/plain; charset=utf-8",
    "srt": "application/x-subrip; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
}

_STATUS_OF_CODE = {
    "protocol_violation": 400,
    "input_unusable": 400,
    "audio_not_found": 400,
    "audio_unreadable": 400,
    "model_not_found": 404,
    "limit_exceeded": 413,
    "audio_unsupported": 415,
    "overloaded": 503,
    "not_ready": 503,
    "worker_died": 503,
    "models_busy": 503,
    "not_enough_memory": 503,
}
"""Code of an error to its HTTP status; every other is 500."""


class ParameterRefused(ProtocolViolation):
    """A form field has a value that cannot be served."""

    def __init__(self, param: str, reason: str) -> None:
        self.param = param
        super().__init__(f"{param}: {reason}")


@dataclass(frozen=True, slots=True)
class TranscriptionRequest:
    """What the form asks for, the audio apart."""

    options: SessionOptions
    response_format: ResponseFormat = "json"
    has_words: bool = False
    """``verbose_json``: whether words with their times are listed."""
    has_segments: bool = True
    """``verbose_json``: whether segments are listed."""


@dataclass(frozen=True, slots=True)
class Transcription:
    """What was recognised in one upload."""

    finals: tuple[Final, ...]
    audio_s: float
    """Length of the audio, seconds."""
    language: str


@dataclass(frozen=True, slots=True)
class Body:
    """A response."""

    status: int
    media_type: str
    content: bytes
    retry_after_s: float | None = None


def parse_form(fields: Iterable[tuple[str, str]]) -> TranscriptionRequest:
    """Read the text fields of the form; unknown ones are ignored, as OpenAI does.

    Raises:
        ParameterRefused: A field has a value that cannot be served.
    """
    values: dict[str, list[str]] = {}
    for name, value in fields:
        values.setdefault(name.removesuffix("[]"), []).append(value)
    _refuse_what_is_not_served(values)
    response_format = _response_format(_last(values, "response_format", "json"))
    granularities = _granularities(values.get("timestamp_granularities", []), response_format)
    return TranscriptionRequest(
        options=SessionOptions(
            language=_last(values, "language") or _last(values, "languages"),
            model=_model(_last(values, "model")),
            partials=False,
            is_batch=True,
        ),
        response_format=response_format,
        has_words="word" in granularities,
        has_segments="segment" in granularities or not granularities,
    )


def render(request: TranscriptionRequest, transcription: Transcription) -> Body:
    """The response in the format that was asked for."""
    text = joined_text(final.text for final in transcription.finals)
    match request.response_format:
        case "json":
            content = msgspec.json.encode({"text": text, "usage": _usage(transcription)})
        case "verbose_json":
            content = msgspec.json.encode(_verbose(request, transcription, text))
        case "text":
            content = f"{text}\n".encode()
        case "srt":
            content = srt(transcription.finals).encode()
        case "vtt":
            content = vtt(transcription.finals).encode()
    return Body(200, _MEDIA_TYPES[request.response_format], content)


def render_error(error: EdgeAsrError | Failed) -> Body:
    """The error in OpenAI's shape, with the HTTP status that belongs to it."""
    message = error.message if isinstance(error, Failed) else str(error)
    status = _STATUS_OF_CODE.get(error.code, 500)
    kind = "invalid_request_error" if status < 500 else "server_error"
    param = getattr(error, "param", None)
    return Body(status, _JSON, error_content(message, kind, error.code, param), error.retry_after_s)


def error_content(message: str, kind: str, code: str | None, param: str | None = None) -> bytes:
    """``{"error": {"message", "type", "param", "code"}}``."""
    return msgspec.json.encode({"error": {"message": message, "type": kind, "param": param, "code": code}})


def render_models(names: Iterable[str]) -> Body:
    """``GET /v1/models``: the models that may be asked for by name."""
    models = [{"id": name, "object": "model", "created": 0, "owned_by": "edge-asr"} for name in names]
    return Body(200, _JSON, msgspec.json.encode({"object": "list", "data": models}))


def _last(values: dict[str, list[str]], name: str, default: str = "") -> str:
    return values[name][-1].strip() if name in values else default


def _refuse_what_is_not_served(values: dict[str, list[str]]) -> None:
    if _last(values, "stream").lower() in ("true", "1"):
        raise ParameterRefused("stream", "streamed responses are not available here; leave it out")
    if "include" in values:
        raise ParameterRefused("include", f"{_last(values, 'include')!r} is not available here; leave it out")
    temperature = _last(values, "temperature", "0")
    try:
        is_in_range = 0 <= float(temperature) <= 1
    except ValueError:
        is_in_range = False
    if not is_in_range:
        raise ParameterRefused("temperature", f"{temperature!r} is not a number from 0 to 1")


def _response_format(name: str) -> ResponseFormat:
    for known in get_args(ResponseFormat):
        if name == known:
            return known  # type: ignore[no-any-return]  # get_args loses the literal's type
    raise ParameterRefused("response_format", f"{name!r} is not one of: {', '.join(get_args(ResponseFormat))}")


def _granularities(names: Sequence[str], response_format: ResponseFormat) -> set[str]:
    unknown = [name for name in names if name not in ("word", "segment")]
    if unknown:
        raise ParameterRefused("timestamp_granularities", f"{unknown[0]!r} is not one of: word, segment")
    if names and response_format != "verbose_json":
        raise ParameterRefused("timestamp_granularities", f"needs response_format verbose_json, not {response_format}")
    return set(names)


def _model(name: str) -> str:
    return "" if name in OPENAI_MODELS else name


def _usage(transcription: Transcription) -> dict[str, Any]:
    return {"type": "duration", "seconds": round(transcription.audio_s, 3)}


def _verbose(request: TranscriptionRequest, transcription: Transcription, text: str) -> dict[str, Any]:
    spoken = [final for final in transcription.finals if final.text]
    body: dict[str, Any] = {
        "task": "transcribe",
        "language": transcription.language,
        "duration": round(transcription.audio_s, 3),
        "text": text,
    }
    if request.has_words:
        body["words"] = [
            {"word": word.text, "start": round(word.start_s, 3), "end": round(word.end_s, 3)}
            for final in spoken
            for word in final.words
        ]
    if request.has_segments:
        body["segments"] = [_segment(number, final) for number, final in enumerate(spoken)]
    return {**body, "usage": _usage(transcription)}


def _segment(number: int, final: Final) -> dict[str, Any]:
    return {
        "id": number,
        "seek": round(final.start_s * 100),
        "start": round(final.start_s, 3),
        "end": round(final.end_s, 3),
        "text": final.text,
        "tokens": [],  # ids of Whisper's vocabulary, which other models do not have
        "temperature": 0.0,
        "avg_logprob": _mean_log_probability(final),
        "compression_ratio": _compression_ratio(final.text),
        "no_speech_prob": 0.0,
    }


def _mean_log_probability(final: Final) -> float:
    known = [math.log(word.confidence) for word in final.words if word.confidence]
    return round(sum(known) / len(known), 4) if known else 0.0


def _compression_ratio(text: str) -> float:
    """Whisper's measure of repetition: size of the text over its deflated size."""
    raw = text.encode()
    return round(len(raw) / len(zlib.compress(raw)), 3)
