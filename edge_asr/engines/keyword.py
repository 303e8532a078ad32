"""Wake words by sherpa-onnx's keyword spotter, which takes any streaming zipformer transducer.

Phrases come spelled in the model's tokens: the native code ends the process over what it cannot spell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sherpa_onnx

from edge_asr.audio import Float32Array
from edge_asr.engines.base import Spotted
from edge_asr.engines.native_load import file_in_memory, load_error, model_files
from edge_asr.errors import ModelUnsupported
from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelManifest

SPOTTING_FAMILIES = ("zipformer-transducer", "zipformer2-transducer")

AFTER_LAST_TOKEN_S = 0.16
"""A token is written when its sound is known; the phrase ends about so much later."""


@dataclass(frozen=True, slots=True)
class WakePhrase:
    """One phrase."""

    text: str
    """As it is configured."""
    tokens: tuple[str, ...]
    """As the model's ``tokens.txt`` writes them."""


class KeywordModel:
    """A loaded keyword model and its phrases."""

    def __init__(self, native: Any, phrases: Sequence[WakePhrase], sample_rate_hz: int) -> None:  # noqa: ANN401  native
        self._native = native
        self._phrases = phrases
        self.sample_rate_hz = sample_rate_hz

    def open(self) -> KeywordStream:
        """For one stream of audio."""
        return KeywordStream(self._native, self._phrases, self.sample_rate_hz)


class KeywordStream:
    """Listens in one stream of audio."""

    def __init__(self, native: Any, phrases: Sequence[WakePhrase], sample_rate_hz: int) -> None:  # noqa: ANN401  native
        self._native = native
        self._phrases = phrases
        self._rate_hz = sample_rate_hz
        self.begin()

    def begin(self) -> None:
        """What comes next does not follow on."""
        self._stream = self._native.create_stream()
        self._given = 0

    def hear(self, samples: Float32Array) -> Spotted | None:
        """The next audio; the phrase that was just heard in it."""
        self._stream.accept_waveform(self._rate_hz, samples)
        self._given += len(samples)
        while self._native.is_ready(self._stream):
            self._native.decode_stream(self._stream)
            found = self._native.keyword_spotter.get_result(self._stream)
            if found.keyword:
                return self._found(int(found.keyword), list(found.timestamps))
        return None

    def _found(self, number: int, token_starts_s: Sequence[float]) -> Spotted:
        end = round((token_starts_s[-1] + AFTER_LAST_TOKEN_S) * self._rate_hz) if token_starts_s else self._given
        ago = max(0, self._given - end)
        self.begin()
        return Spotted(self._phrases[number].text, ago)


def require_spotting(manifest: ModelManifest) -> None:
    """Refuse models in which no phrase can be found.

    Raises:
        ModelUnsupported: The model is of another family.
    """
    if manifest.family not in SPOTTING_FAMILIES:
        raise ModelUnsupported(manifest.name, f"wake words need a model of: {', '.join(SPOTTING_FAMILIES)}")


def load_keywords(
    directory: Path, manifest: ModelManifest, phrases: Sequence[WakePhrase], threshold: float, boost: float
) -> KeywordModel:
    """Load a keyword model, of a family that :func:`require_spotting` allows; the caller has inspected the files.

    Raises:
        ModelDamaged: The engine cannot load it.
    """
    files = model_files(directory, manifest, FAMILIES[manifest.family])
    lines = "".join(f"{' '.join(phrase.tokens)} @{number}\n" for number, phrase in enumerate(phrases))
    try:
        with file_in_memory("keywords", lines.encode()) as keywords:
            native = sherpa_onnx.KeywordSpotter(
                **{role: str(files[role]) for role in ("tokens", "encoder", "decoder", "joiner")},
                keywords_file=str(keywords),
                num_threads=1,
                keywords_threshold=threshold,
                keywords_score=boost,
            )
    except (RuntimeError, ValueError) as error:
        raise load_error(manifest.name, str(error)) from error
    return KeywordModel(native, phrases, manifest.sample_rate_hz)
