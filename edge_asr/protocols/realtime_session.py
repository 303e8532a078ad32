"""What clients of OpenAI's realtime API ask of a transcription session, in the released API's words and in the beta's.

::

    {"type":"session.update","session":{"type":"transcription","audio":{"input":{                        released
        "format":{"type":"audio/pcm","rate":24000}, "transcription":{"language":"en"}, "turn_detection":null}}}}

    {"type":"transcription_session.update","session":{"input_audio_format":"g711_ulaw",                  beta
        "input_audio_transcription":{"language":"en"}, "turn_detection":{"type":"server_vad"}}}

Either kind of update may hold either kind of words. What an update does not name stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from edge_asr.errors import ProtocolViolation
from edge_asr.protocols.openai import served_model
from edge_asr.protocols.query import changed_options, words_of
from edge_asr.requests import Encoding, SessionOptions

PCM_RATE_HZ = 24_000
G711_RATE_HZ = 8_000

SERVER_VAD: dict[str, Any] = {
    "type": "server_vad",
    "threshold": 0.5,
    "prefix_padding_ms": 300,
    "silence_duration_ms": 500,
}
"""The API's own default."""

LOGPROBS = "item.input_audio_transcription.logprobs"

FormatName = Literal["audio/pcm", "audio/pcmu", "audio/pcma"]
_ENCODINGS: dict[FormatName, Encoding] = {"audio/pcm": "s16le", "audio/pcmu": "mulaw", "audio/pcma": "alaw"}
_BETA_NAMES: dict[str, FormatName] = {"pcm16": "audio/pcm", "g711_ulaw": "audio/pcmu", "g711_alaw": "audio/pcma"}

_SILENCE_OF_EAGERNESS = {"low": 2_000, "medium": 1_200, "auto": 1_200, "high": 600}
"""``semantic_vad`` asks how sure one must be that a sentence is over; silence in milliseconds is what we go by."""

MIN_SILENCE_MS, MAX_SILENCE_MS = 100, 60_000


@dataclass(frozen=True, slots=True)
class TranscriptionSession:
    """The state that ``session.created`` and ``session.updated`` show."""

    options: SessionOptions
    """As given by the query of the URL; format, language, model, hotwords and silence come from the fields below."""
    format_name: FormatName = "audio/pcm"
    rate_hz: int = PCM_RATE_HZ
    transcription: Mapping[str, Any] | None = None
    turn_detection: Mapping[str, Any] | None = None
    """``None``: the client says where a turn ends."""
    noise_reduction: Mapping[str, Any] | None = None
    """Shown as it was asked for; the models hear the audio as it is."""
    has_logprobs: bool = False

    def session_options(self) -> SessionOptions:
        """For the recogniser.

        Raises:
            ProtocolViolation: Something is out of range.
        """
        asked = self.transcription or {}
        languages = asked.get("languages") or [""]
        changes = {
            "sample_rate_hz": self.rate_hz,
            "encoding": _ENCODINGS[self.format_name],
            "language": asked.get("language") or languages[0] or self.options.language,
            "model": served_model(asked.get("model") or "") or self.options.model,
            "hotwords": words_of(asked.get("keywords") or []) or list(self.options.hotwords),
            "endpoint_silence_ms": self._silence_ms(),
            "commands": asked.get("commands", self.options.commands),
            "itn": asked.get("itn", self.options.itn),
            "punctuation": asked.get("punctuation", self.options.punctuation),
        }
        return changed_options(self.options, **changes)

    def _silence_ms(self) -> int | None:
        rule = self.turn_detection or {}
        if rule.get("type") == "server_vad":
            asked = float(rule.get("silence_duration_ms") or SERVER_VAD["silence_duration_ms"])
            return round(min(max(asked, MIN_SILENCE_MS), MAX_SILENCE_MS))
        if rule.get("type") == "semantic_vad":
            return _SILENCE_OF_EAGERNESS[rule.get("eagerness") or "auto"]
        return self.options.endpoint_silence_ms

    def shown(self, session_id: str, *, is_beta: bool) -> dict[str, Any]:
        """The ``session`` of an event."""
        identity = {"id": session_id, "object": "realtime.transcription_session", "expires_at": 0}
        include = [LOGPROBS] if self.has_logprobs else []
        if is_beta:
            names = {name: beta for beta, name in _BETA_NAMES.items()}
            return {
                **identity,
                "modalities": ["text", "audio"],
                "input_audio_format": names[self.format_name],
                "input_audio_transcription": self.transcription,
                "input_audio_noise_reduction": self.noise_reduction,
                "turn_detection": self.turn_detection,
                "include": include,
            }
        written = {"type": self.format_name}
        heard = {
            "format": {**written, "rate": self.rate_hz} if self.format_name == "audio/pcm" else written,
            "transcription": self.transcription,
            "noise_reduction": self.noise_reduction,
            "turn_detection": self.turn_detection,
        }
        return {**identity, "type": "transcription", "audio": {"input": heard}, "include": include}


def new_session(options: SessionOptions) -> TranscriptionSession:
    """Before any update: the API's defaults."""
    return TranscriptionSession(options, transcription={"model": options.model}, turn_detection=SERVER_VAD)


def updated(session: TranscriptionSession, asked: object) -> TranscriptionSession:
    """The session after an update.

    Raises:
        ProtocolViolation: The update asks for what there is not.
    """
    fields = _object(asked, "session")
    if fields.get("type", "transcription") != "transcription":
        raise ProtocolViolation(f"session.type: {fields['type']!r} is not served here; use 'transcription'")
    fields = {**fields, **_released_words(fields)}
    changes: dict[str, Any] = {}
    if "format" in fields:
        changes["format_name"], changes["rate_hz"] = _format(fields["format"])
    if "transcription" in fields:
        changes["transcription"] = {**(session.transcription or {}), **_transcription(fields["transcription"])}
    if "turn_detection" in fields:
        changes["turn_detection"] = _turn_detection(fields["turn_detection"])
    if "noise_reduction" in fields:
        changes["noise_reduction"] = _optional_object(fields["noise_reduction"], "noise_reduction")
    if "include" in fields:
        changes["has_logprobs"] = LOGPROBS in _strings(fields["include"], "session.include")
    result = replace(session, **changes)
    result.session_options()  # looks at every value
    return result


def _released_words(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What may be said, under its name in the released API, wherever it stands."""
    if "audio" in fields:
        heard = _object(_object(fields["audio"], "session.audio").get("input", {}), "session.audio.input")
        return dict(heard)
    names = {
        "input_audio_format": "format",
        "input_audio_transcription": "transcription",
        "input_audio_noise_reduction": "noise_reduction",
    }
    return {released: fields[beta] for beta, released in names.items() if beta in fields}


def _format(asked: object) -> tuple[FormatName, int]:
    if isinstance(asked, str):
        if asked not in _BETA_NAMES:
            raise ProtocolViolation(f"input_audio_format: {asked!r} is not one of: {', '.join(_BETA_NAMES)}")
        asked = {"type": _BETA_NAMES[asked]}
    fields = _object(asked, "format")
    for name in _ENCODINGS:
        if fields.get("type") == name:
            rate = fields.get("rate")
            if rate is None:
                rate = PCM_RATE_HZ if name == "audio/pcm" else G711_RATE_HZ
            if not isinstance(rate, int) or isinstance(rate, bool):
                raise ProtocolViolation(f"format.rate: {rate!r} is not a whole number")
            return name, rate
    raise ProtocolViolation(f"format.type: {fields.get('type')!r} is not one of: {', '.join(_ENCODINGS)}")


def _transcription(asked: object) -> Mapping[str, Any]:
    fields = _optional_object(asked, "transcription") or {}
    for name in ("model", "language", "prompt", "commands"):
        if not isinstance(fields.get(name), str | None):
            raise ProtocolViolation(f"transcription.{name} must be a string")
    for name in ("itn", "punctuation"):
        if not isinstance(fields.get(name), bool | None):
            raise ProtocolViolation(f"transcription.{name} must be true or false")
    for name in ("languages", "keywords"):
        _strings(fields.get(name), f"transcription.{name}")
    return fields


def _strings(value: object, name: str) -> list[str]:
    listed = [] if value is None else value
    if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
        raise ProtocolViolation(f"{name} must be a list of strings")
    return listed


def _turn_detection(asked: object) -> Mapping[str, Any] | None:
    fields = _optional_object(asked, "turn_detection")
    if fields is None:
        return None
    kind = fields.get("type", "server_vad")
    if kind == "semantic_vad":
        if (fields.get("eagerness") or "auto") not in _SILENCE_OF_EAGERNESS:
            raise ProtocolViolation(
                f"turn_detection.eagerness: {fields['eagerness']!r} is not one of: {', '.join(_SILENCE_OF_EAGERNESS)}"
            )
        return {"eagerness": "auto", **fields}
    if kind != "server_vad":
        raise ProtocolViolation(f"turn_detection.type: {kind!r} is not one of: server_vad, semantic_vad")
    silence = fields.get("silence_duration_ms")
    if silence is not None and (not isinstance(silence, int | float) or isinstance(silence, bool) or silence < 0):
        raise ProtocolViolation(f"turn_detection.silence_duration_ms: {silence!r} is not a number of milliseconds")
    return {**SERVER_VAD, **fields}


def _object(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ProtocolViolation(f"{name} must be an object")
    return value


def _optional_object(value: object, name: str) -> Mapping[str, Any] | None:
    return None if value is None else _object(value, name)
