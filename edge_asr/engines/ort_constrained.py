"""Encoder-decoder models as a ``SegmentDecoder`` that can be held to a constraint: spoken commands without training.

The free text is decoded beside the constrained one, in the same steps of the model; it costs one row more.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.base import ConstrainedPath, Hypothesis, Token, TokenConstraint
from edge_asr.engines.base64_vocabulary import read_vocabulary
from edge_asr.engines.beam import Path as TokenPath
from edge_asr.engines.beam import SearchOptions, search
from edge_asr.engines.constrained_families import CONSTRAINED_FAMILIES
from edge_asr.engines.ort_encoder_decoder import EncoderDecoder, Moonshine
from edge_asr.engines.samples import usable
from edge_asr.engines.whole_stretch import PADDED_TO_S, holds_speech, loud_part_s, spread
from edge_asr.errors import ModelUnsupported
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings

BEAM_WIDTH = 6

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
        padding = max(0, round(PADDED_TO_S * self._sample_rate_hz) - len(samples)) // 2
        padded = np.pad(samples, padding) if padding else samples
        model = self._model
        options = SearchOptions(model.begin, model.end, BEAM_WIDTH, model.most_tokens(len(padded)))
        found = search(model.hear(padded), constraint, options)
        where_s = loud_part_s(samples, self._sample_rate_hz)
        tokens = self._timed(found.free, where_s)
        path = None
        if found.best is not None:
            path = ConstrainedPath(
                text=_text(found.best, self.vocabulary),
                tokens=self._timed(found.best, where_s),
                log_prob=found.best.log_prob,
                open_log_prob=found.free.log_prob,
            )
        return Hypothesis(_text(found.free, self.vocabulary), tokens, len(samples), path=path)

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
