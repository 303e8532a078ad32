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

from edge_asr.errors import EdgeAsrError, ModelNotFound, ProtocolViolation
from edge_asr.events import Failed, Final, Word
from edge_asr.protocols.final_fields import as_heard, final_fields
from edge_asr.protocols.query import words_of
from edge_asr.requests import SessionOptions
from edge_asr.subtitles import joined_text, srt, vtt

ResponseFormat = Literal["json", "text", "srt", "verbose_json", "vtt"]

OPENAI_MODELS = ("whisper-1", "gpt-")
"""Beginnings of the names that clients written for OpenAI's own service send; here they mean the active model."""

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
    is_streamed: bool = False
    """Whether the text comes as server-sent events while it is recognised."""
    has_logprobs: bool = False
    """Whether ``json`` and streamed answers list the probability of every word."""


@dataclass(frozen=True, slots=True)
class Transcription:
    """What was recognised in one upload."""

    finals: tuple[Final, ...]
    audio_s: float
    """Length of the audio, seconds."""
    language: str
    warnings: tuple[str, ...] = ()
    """What the client should know although nothing failed."""


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
    is_streamed = _is_true(_last(values, "stream"))
    if is_streamed and response_format not in ("json", "text"):
        raise ParameterRefused("stream", f"is for response_format json, not {response_format}")
    granularities = _granularities(values.get("timestamp_granularities", []), response_format)
    return TranscriptionRequest(
        options=_session_options(values, partials=is_streamed),
        response_format=response_format,
        has_words="word" in granularities,
        has_segments="segment" in granularities or not granularities,
        is_streamed=is_streamed,
        has_logprobs="logprobs" in values.get("include", []),
    )


def render(request: TranscriptionRequest, transcription: Transcription) -> Body:
    """The response in the format that was asked for."""
    text = joined_text(final.text for final in transcription.finals)
    usage = {"usage": _usage(transcription)}
    match request.response_format:
        case "json":
            content = msgspec.json.encode({"text": text, **_more(request, transcription.finals), **usage})
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
    content = {"error": fault(message, error.code, getattr(error, "param", None))}
    status = _STATUS_OF_CODE.get(error.code, 500)
    return Body(status, _JSON, msgspec.json.encode(content), error.retry_after_s)


def error_content(message: str, kind: str, code: str | None, param: str | None = None) -> bytes:
    """``{"error": {"message", "type", "param", "code"}}``."""
    return msgspec.json.encode({"error": {"message": message, "type": kind, "param": param, "code": code}})


def render_models(names: Iterable[str]) -> Body:
    """``GET /v1/models``: the models that may be asked for by name."""
    return Body(200, _JSON, msgspec.json.encode({"object": "list", "data": list(map(_model_entry, names))}))


def render_model(name: str, names: Sequence[str]) -> Body:
    """``GET /v1/models/NAME``: one of them; OpenAI's own names are the first, which is the active one."""
    found = served_model(name) or next(iter(names), "")
    if found not in names:
        return render_error(ModelNotFound(name, f"installed are: {', '.join(names) or 'none'}"))
    return Body(200, _JSON, msgspec.json.encode(_model_entry(found)))


def _model_entry(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "edge-asr"}


def _last(values: dict[str, list[str]], name: str, default: str = "") -> str:
    return values[name][-1].strip() if name in values else default


def _refuse_what_is_not_served(values: dict[str, list[str]]) -> None:
    for included in values.get("include", []):
        if included != "logprobs":
            raise ParameterRefused("include", f"{included!r} is not available here; only logprobs is")
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
    if name == "diarized_json":
        raise ParameterRefused("response_format", "speakers are not told apart here; use verbose_json")
    raise ParameterRefused("response_format", f"{name!r} is not one of: {', '.join(get_args(ResponseFormat))}")


def _granularities(names: Sequence[str], response_format: ResponseFormat) -> set[str]:
    unknown = [name for name in names if name not in ("word", "segment")]
    if unknown:
        raise ParameterRefused("timestamp_granularities", f"{unknown[0]!r} is not one of: word, segment")
    if names and response_format != "verbose_json":
        raise ParameterRefused("timestamp_granularities", f"needs response_format verbose_json, not {response_format}")
    return set(names)


def _session_options(values: dict[str, list[str]], *, partials: bool) -> SessionOptions:
    try:
        return SessionOptions(
            language=_last(values, "language") or _last(values, "languages"),
            model=served_model(_last(values, "model")),
            hotwords=tuple(words_of(values.get("keywords", []))),
            endpoint_silence_ms=_silence_ms(values),
            commands=_last(values, "commands") if "commands" in values else None,
            itn=_is_true(_last(values, "itn")) if "itn" in values else None,
            punctuation=_is_true(_last(values, "punctuation")) if "punctuation" in values else None,
            partials=partials,
            is_batch=True,
        )
    except ParameterRefused:
        raise
    except ValueError as error:
        raise ParameterRefused("keywords, chunking_strategy or commands", str(error)) from error


def served_model(name: str) -> str:
    """The store's name of the model that a client asks for; empty for the active one."""
    return "" if name.startswith(OPENAI_MODELS) else name


def _is_true(value: str) -> bool:
    return value.lower() in ("true", "1")


def _silence_ms(values: dict[str, list[str]]) -> int | None:
    """The silence of a ``server_vad``, which comes as JSON or as fields; ``auto`` is the configured rule."""
    strategy = _last(values, "chunking_strategy")
    asked: Any = {name: _last(values, f"chunking_strategy[{name}]") for name in _VAD_FIELDS if _is_given(values, name)}
    try:
        if strategy not in ("", "auto", "null"):
            asked = msgspec.json.decode(strategy)
        return msgspec.convert(asked, _ServerVad, strict=False).silence_duration_ms if asked else None
    except msgspec.DecodeError as error:
        raise ParameterRefused("chunking_strategy", f"neither 'auto' nor a server_vad: {error}") from error


_VAD_FIELDS = ("type", "silence_duration_ms")


def _is_given(values: dict[str, list[str]], name: str) -> bool:
    return f"chunking_strategy[{name}]" in values


class _ServerVad(msgspec.Struct, tag_field="type", tag="server_vad"):
    silence_duration_ms: int = 200


def fault(message: str, code: str, param: str | None = None) -> dict[str, Any]:
    """An error as all of OpenAI's interfaces write it."""
    kind = "invalid_request_error" if _STATUS_OF_CODE.get(code, 500) < 500 else "server_error"
    return {"message": message, "type": kind, "param": param, "code": code}


def log_probabilities(words: Iterable[Word]) -> list[dict[str, Any]]:
    """One entry per word whose confidence is known; OpenAI's own are per token of its vocabulary."""
    return [
        {"token": word.text, "logprob": round(math.log(word.confidence), 6), "bytes": list(word.text.encode())}
        for word in words
        if word.confidence
    ]


def _more(request: TranscriptionRequest, finals: Sequence[Final]) -> dict[str, Any]:
    more: dict[str, Any] = {}
    if request.has_logprobs:
        more["logprobs"] = log_probabilities(word for final in finals for word in final.words)
    return more | as_heard(finals)


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
    if transcription.warnings:
        body["warnings"] = list(transcription.warnings)
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
        **final_fields(final),
    }


def _mean_log_probability(final: Final) -> float:
    known = [math.log(word.confidence) for word in final.words if word.confidence]
    return round(sum(known) / len(known), 4) if known else 0.0


def _compression_ratio(text: str) -> float:
    """Whisper's measure of repetition: size of the text over its deflated size."""
    raw = text.encode()
    return round(len(raw) / len(zlib.compress(raw)), 3)
