"""Encoder-decoder models as a ``SegmentDecoder`` that can be held to a constraint: spoken commands without training.

The free text is decoded beside the constrained one, in the same steps of the model; it costs one row more.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.base import ConstrainedPath, Hypothesis, Token, TokenBias, TokenConstraint
from edge_asr.engines.base64_vocabulary import read_vocabulary
from edge_asr.engines.beam import Found, SearchOptions, search
from edge_asr.engines.beam import Path as TokenPath
from edge_asr.engines.biased_search import search_biased
from edge_asr.engines.constrained_families import CONSTRAINED_FAMILIES
from edge_asr.engines.ort_encoder_decoder import EncoderDecoder, Moonshine
from edge_asr.engines.repetition import is_runaway, without_loop
from edge_asr.engines.samples import usable
from edge_asr.engines.whole_stretch import PADDED_TO_S, holds_speech, loud_part_s, spread
from edge_asr.errors import ModelUnsupported
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings

BEAM_WIDTH = 6
BIASED_WIDTH = 4
"""Of the search for phrases that are expected."""

MAX_SEGMENT_S = 30.0


class ConstrainedDecoder:
    """Implements :class:`~edge_asr.engines.base.SegmentDecoder`."""

    def __init__(self, model: EncoderDecoder, vocabulary: tuple[str, ...], sample_rate_hz: int) -> None:
        """``vocabulary``: text of each token by id, a space where a word begins; empty for what is no text."""
        self.vocabulary = vocabulary
        self._model = model
        self._sample_rate_hz = sample_rate_hz

    @property
    def sample_rate_hz(self) -> int:
        """The model's rate."""
        return self._sample_rate_hz

    @property
    def max_segment_s(self) -> float:
        """Longest stretch, seconds."""
        return MAX_SEGMENT_S

    def decode(self, samples: Float32Array, constraint: TokenConstraint | None = None) -> Hypothesis:
        """Recognise one stretch.

        Raises:
            ValueError: The stretch is longer than ``max_segment_s``.
            EngineFailed: ONNX Runtime raised.
        """
        samples = usable(samples)
        if not holds_speech(samples, self._sample_rate_hz, self.max_segment_s):
            return Hypothesis("", (), len(samples))
        padded = self._padded(samples)
        return self._hypothesis(search(self._model.hear(padded), constraint, self._options(padded)), samples)

    def decode_biased(self, samples: Float32Array, bias: TokenBias) -> Hypothesis:
        """Recognise one stretch in which these phrases are to be expected; without one of them the text is that of
        :meth:`decode`, and so is what is raised."""
        free = self.decode(samples)
        if not free.text:
            return free
        samples = usable(samples)
        padded = self._padded(samples)
        options = replace(self._options(padded), width=BIASED_WIDTH)
        best = search_biased(self._model.hear(padded), bias, options)
        if not bias.is_in(_text(best, self.vocabulary)):
            return free
        return self._hypothesis(Found(best, None), samples)

    def _padded(self, samples: Float32Array) -> Float32Array:
        padding = max(0, round(PADDED_TO_S * self._sample_rate_hz) - len(samples)) // 2
        return np.pad(samples, padding) if padding else samples

    def _options(self, padded: Float32Array) -> SearchOptions:
        return SearchOptions(self._model.begin, self._model.end, BEAM_WIDTH, self._model.most_tokens(len(padded)))

    def _hypothesis(self, found: Found, samples: Float32Array) -> Hypothesis:
        """What was found, without what the model repeats for ever: an open stretch often starts such a loop."""
        duration_s = len(samples) / self._sample_rate_hz
        where_s = loud_part_s(samples, self._sample_rate_hz)
        free = self._without_loop(found.free, duration_s)
        path = None
        if found.best is not None and not is_runaway(_text(found.best, self.vocabulary), duration_s):
            path = ConstrainedPath(
                text=_text(found.best, self.vocabulary),
                tokens=self._timed(found.best, where_s),
                log_prob=found.best.log_prob,
                open_log_prob=found.free.log_prob,
            )
        return Hypothesis(_text(free, self.vocabulary), self._timed(free, where_s), len(samples), path=path)

    def _without_loop(self, path: TokenPath, duration_s: float) -> TokenPath:
        """The path up to the end of the phrase that it goes on to repeat."""
        text = _text(path, self.vocabulary)
        if not is_runaway(text, duration_s):
            return path
        words = len(without_loop(text).split())
        begins = [at for at, token in enumerate(path.tokens) if self.vocabulary[token].startswith(" ")]
        kept = begins[words] if words < len(begins) else len(path.tokens)
        return replace(path, tokens=path.tokens[:kept], log_probs=path.log_probs[:kept])

    def _timed(self, path: TokenPath, where_s: tuple[float, float]) -> tuple[Token, ...]:
        """Tokens with times: the model gives none, so they are spread over the loud part."""
        texts = [self.vocabulary[token] for token in path.tokens]
        starts = spread(texts, *where_s)
        return tuple(map(Token, texts, starts, path.log_probs))


def load_constrained_decoder(directory: Path, manifest: ModelManifest, settings: EngineSettings) -> ConstrainedDecoder:
    """Load a model for decoding under constraints; the caller has inspected the files.

    Raises:
        ModelUnsupported: There is no such decoder for the family.
        ModelDamaged: ONNX Runtime cannot load the files.
    """
    if manifest.family not in CONSTRAINED_FAMILIES:
        known = ", ".join(CONSTRAINED_FAMILIES)
        raise ModelUnsupported(manifest.name, f"spoken commands are decoded with models of the family {known}")
    files = {role: directory / file.path for role, file in manifest.files.items()}
    model = Moonshine(files["encoder"], files["decoder"], manifest.name, settings.threads, manifest.sample_rate_hz)
    return ConstrainedDecoder(model, read_vocabulary(files["tokens"], manifest.name), manifest.sample_rate_hz)


def _text(path: TokenPath, vocabulary: tuple[str, ...]) -> str:
    return "".join(vocabulary[token] for token in path.tokens).strip()
