"""Non-streaming families through sherpa-onnx's ``OfflineRecognizer``: one stretch of speech in, its text out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import sherpa_onnx

from edge_asr.audio import Float32Array
from edge_asr.engines.base import Hypothesis, Token, TokenConstraint
from edge_asr.engines.native_load import construct, model_files
from edge_asr.engines.native_rules import has_rules, rule_arguments, spelled
from edge_asr.engines.native_text import text_of
from edge_asr.engines.providers import ProviderChoice
from edge_asr.engines.repetition import is_runaway, without_loop
from edge_asr.engines.samples import usable
from edge_asr.engines.whole_stretch import PADDED_TO_S, holds_speech, loud_part_s, spread
from edge_asr.errors import ConfigurationError, EngineFailed
from edge_asr.families import ModelFamily
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings

_log = logging.getLogger(__name__)

CLOSING_SILENCE_S: Mapping[str, float] = {"moonshine": 0.35}
"""Silence that a family wants after the last word. At the ends of recordings Moonshine makes fewer mistakes with it: in
5.25 instead of 6.03 % of the words of 280 telephone prompts (paired difference -0.14 to -1.46 points, 95 %)."""

ENCODER_DECODERS = frozenset({"moonshine", "whisper"})
"""Families that may repeat themselves without end, since they hear what they said before."""

PADDING_AGAINST_LOOPS_S = (0.25, 0.5)
"""Silence on both sides that is tried when the model repeats itself without end: another start, the same words."""

MAX_SEGMENT_S: Mapping[str, float] = {
    "moonshine": 30.0,
    "whisper": 30.0,  # the encoder's window
    "sense-voice": 30.0,
    "paraformer": 30.0,
    "nemo-ctc": 30.0,
    "wenet-ctc": 30.0,
}
"""Longest stretch by family: what the models were trained on, and what bounds the memory of one decode."""


def load_segment_decoder(
    directory: Path,
    manifest: ModelManifest,
    family: ModelFamily,
    settings: EngineSettings,
    choice: ProviderChoice,
    profile_prefix: str = "",
) -> tuple[SherpaSegmentDecoder, ProviderChoice]:
    """Load a non-streaming model; the caller has inspected the files.

    Args:
        directory: Where the files are.
        manifest: What they are.
        family: How they are loaded.
        settings: How they are decoded.
        choice: The provider to try.
        profile_prefix: As in :func:`edge_asr.engines.native_load.session_options`.

    Returns:
        The decoder, and the provider it really runs on.

    Raises:
        ConfigurationError: The family cannot be decoded as configured.
        ModelError: The engine cannot load the files.
        ProviderUnavailable: The provider did not run and no fallback is allowed.
    """
    files = model_files(directory, manifest, family)
    if settings.decoding_method != "greedy_search":
        raise ConfigurationError(
            f"engine.decoding_method = {settings.decoding_method!r} does not work with models of the family "
            f"{family.name}; set it to 'greedy_search'"
        )
    factory = getattr(sherpa_onnx.OfflineRecognizer, family.factory)
    if has_rules(settings) and family.name in ENCODER_DECODERS:
        raise ConfigurationError(
            f"engine.rule_fsts and the like are not for models of the family {family.name}, whose tokens do not tell "
            "what was heard before; use text.itn"
        )
    arguments = factory_arguments(family, files, manifest.languages) | rule_arguments(settings)
    recognizer, choice = construct(
        factory, arguments, model=manifest.name, settings=settings, choice=choice, profile_prefix=profile_prefix
    )
    decoder = SherpaSegmentDecoder(
        recognizer,
        manifest.sample_rate_hz,
        MAX_SEGMENT_S[family.name],
        closing_silence_s=CLOSING_SILENCE_S.get(family.name, 0.0),
        may_loop=family.name in ENCODER_DECODERS,
        has_rules=has_rules(settings),
        has_tags=family.name == "sense-voice",
    )
    return decoder, choice


def factory_arguments(family: ModelFamily, files: Mapping[str, Path], languages: tuple[str, ...]) -> dict[str, object]:
    """Arguments of the family's factory, but for provider and threads."""
    arguments: dict[str, object] = {role: files[role] for role in family.roles}
    arguments["decoding_method"] = "greedy_search"
    only_language = languages[0] if len(languages) == 1 else ""
    if family.name == "paraformer":
        arguments["paraformer"] = arguments.pop("model")
    elif family.name == "whisper":
        arguments["language"] = only_language  # empty: the model finds out
    elif family.name == "sense-voice":
        arguments |= {"language": only_language, "use_itn": True}  # numbers as digits, and punctuation
    return arguments


class SherpaSegmentDecoder:
    """A loaded non-streaming model.

    Args:
        recognizer: The native one.
        sample_rate_hz: Of its features.
        max_segment_s: Longest stretch it takes, seconds.
        closing_silence_s: Silence it is given after each stretch, seconds; less where both together would be too long.
        may_loop: Whether what it repeats without end is cured, or cut short.
        has_rules: Whether it rewrites its text.
        has_tags: Whether it says language, emotion and event besides.
    """

    def __init__(
        self,
        recognizer: Any,  # noqa: ANN401  native
        sample_rate_hz: int,
        max_segment_s: float,
        *,
        closing_silence_s: float = 0.0,
        may_loop: bool = False,
        has_rules: bool = False,
        has_tags: bool = False,
    ) -> None:
        self._has_tags = has_tags
        self._has_rules = has_rules
        self._recognizer = recognizer
        self._sample_rate_hz = sample_rate_hz
        self._max_segment_s = max_segment_s
        self._closing_silence_s = closing_silence_s
        self._may_loop = may_loop

    @property
    def sample_rate_hz(self) -> int:
        """The rate of the model's features."""
        return self._sample_rate_hz

    @property
    def max_segment_s(self) -> float:
        """Longest stretch, seconds."""
        return self._max_segment_s

    def decode(self, samples: Float32Array, constraint: TokenConstraint | None = None) -> Hypothesis:
        """Recognise one stretch.

        Raises:
            ValueError: The stretch is longer than ``max_segment_s``, or a constraint was given.
            EngineFailed: The native engine raised.
        """
        if constraint is not None:
            raise ValueError("this decoder takes no constraint")
        samples = usable(samples)
        if not holds_speech(samples, self._sample_rate_hz, self._max_segment_s):
            return Hypothesis("", (), len(samples))
        duration_s = len(samples) / self._sample_rate_hz
        for padding_s in (max(0.0, PADDED_TO_S - duration_s) / 2, *PADDING_AGAINST_LOOPS_S):
            before_s, result, text = self._recognize_padded(samples, padding_s)
            if not self._may_loop or not is_runaway(text, duration_s):
                tokens = timed_tokens(result, text, samples, self._sample_rate_hz, -before_s)
                raw_text = spelled(_token_texts(result)) if self._has_rules else None
                return Hypothesis(
                    text, tokens, len(samples), raw_text=raw_text, tags=tags_of(result) if self._has_tags else {}
                )
        return _without_loop(text, samples, self._sample_rate_hz)

    def _recognize_padded(self, samples: Float32Array, padding_s: float) -> tuple[float, Any, str]:
        """With silence around it; the seconds of silence before it, the result and its text."""
        room_s = max(0.0, self._max_segment_s - len(samples) / self._sample_rate_hz)
        before_s = min(padding_s, room_s / 2)
        after_s = min(max(padding_s, self._closing_silence_s), room_s - before_s)
        before, after = (round(each_s * self._sample_rate_hz) for each_s in (before_s, after_s))
        result = self._recognize(np.pad(samples, (before, after)) if before or after else samples)
        return before_s, result, _text_of(result)

    def _recognize(self, samples: Float32Array) -> Any:  # noqa: ANN401  native
        try:
            stream = self._recognizer.create_stream()
            stream.accept_waveform(self._sample_rate_hz, samples.tolist())
            self._recognizer.decode_stream(stream)
        except (RuntimeError, IndexError) as error:
            raise EngineFailed(str(error)) from error
        return stream.result


def _without_loop(text: str, samples: Float32Array, sample_rate_hz: int) -> Hypothesis:
    """What no padding cured: the phrase once, its words spread over the loud part."""
    text = without_loop(text)
    texts = [f" {word}" for word in text.split()]
    starts = spread(texts, *loud_part_s(samples, sample_rate_hz))
    return Hypothesis(
        text, tuple(Token(text, start_s, None) for text, start_s in zip(texts, starts, strict=True)), len(samples)
    )


def timed_tokens(
    result: Any,  # noqa: ANN401  native
    text: str,
    samples: Float32Array,
    sample_rate_hz: int,
    offset_s: float,
) -> tuple[Token, ...]:
    """The result's tokens with times relative to the first sample.

    Families that give no times get them spread over the loud part of the audio, by the length of the tokens' text.
    """
    texts = _token_texts(result) or [f" {word}" for word in text.split()]
    if len(result.timestamps) == len(texts):
        starts = [max(0.0, offset_s + time_s) for time_s in result.timestamps]
    else:
        starts = spread(texts, *loud_part_s(samples, sample_rate_hz))
    log_probs = result.ys_log_probs if len(result.ys_log_probs) == len(texts) else [None] * len(texts)
    return tuple(
        Token(text, start_s, None if log_prob is None else min(0.0, log_prob))
        for text, start_s, log_prob in zip(texts, starts, log_probs, strict=True)
    )


def tags_of(result: Any) -> dict[str, str]:  # noqa: ANN401  native
    """What SenseVoice says besides words: ``<|zh|>`` is the tag ``zh``."""
    said = {"language": result.lang, "emotion": result.emotion, "event": result.event}
    plain = {name: tag.strip().removeprefix("<|").removesuffix("|>") for name, tag in said.items()}
    return {name: tag for name, tag in plain.items() if tag}


def _token_texts(result: Any) -> list[str]:  # noqa: ANN401  native
    try:
        return list(result.tokens)
    except UnicodeDecodeError:
        return []  # tokens of single bytes: characters are whole in the text only


def _text_of(result: Any) -> str:  # noqa: ANN401  native
    try:
        return text_of(result).strip()
    except UnicodeDecodeError:
        _log.warning("the model ended within a character; its text is lost")
        return ""
