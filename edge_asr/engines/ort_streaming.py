"""Streaming models run step by step through ONNX Runtime, with every input and posterior in our hands.

Used on workstations, where the native engine shows only its text: calibration needs what goes into a graph, and
sensitivity needs the posteriors that come out of it. Features, states and search are those of sherpa-onnx, so the
tokens are too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_ctc import CtcRecogniser
from edge_asr.engines.ort_features import FEATURES, FRAME_SHIFT_S, FeatureOptions, mel_features
from edge_asr.engines.ort_paraformer import ParaformerRecogniser
from edge_asr.engines.ort_path import TokenPath
from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.engines.ort_transducer import TransducerRecogniser
from edge_asr.errors import ModelUnsupported
from edge_asr.families import ModelFamily

__all__ = ["Inputs", "StreamingRunner", "TokenPath", "can_run"]

EMISSION_DELAY_S = 0.4
"""How long after a sound a streaming model may still emit its token."""

_GRAPHS = ("model", "encoder", "decoder", "joiner")


class _Recogniser(Protocol):
    """What differs between kinds of models."""

    blank: int
    window_frames: int

    def log_posteriors(
        self, batch: Sequence[Float32Array], paths: Sequence[TokenPath] | None = None
    ) -> list[Float32Array]: ...
    def greedy(self, features: Float32Array) -> TokenPath: ...
    def steps(self, features: Float32Array) -> Iterator[tuple[str, Inputs]]: ...


class StreamingRunner:
    """A streaming model, its float or a quantized version."""

    def __init__(
        self,
        files: Mapping[str, Path | bytes],
        family: ModelFamily,
        *,
        threads: int = 1,
        sample_rate_hz: int = 16_000,
        unknown: int | None = None,
        graphs: Mapping[str, Graph] | None = None,
    ) -> None:
        """Load the graphs.

        Args:
            files: Role to file, or to the serialized graph; roles that are no graphs are ignored.
            family: How the parts fit together.
            threads: Of each session.
            sample_rate_hz: Of the audio.
            unknown: Token ``<unk>``, if the model has one: the search of transducers takes it for the blank.
            graphs: Role to graph, loaded already; then no file is.

        Raises:
            ModelUnsupported: The family cannot be run here.
            ModelDamaged: ONNX Runtime cannot load a graph, or its states do not pair.
        """
        roles = [role for role in _GRAPHS if role in family.roles]
        if not can_run(family):
            raise ModelUnsupported(family.name, "models of this family cannot be run step by step here")
        if graphs is None:
            graphs = {role: Graph(files[role], role, threads) for role in roles}
        self._recogniser = _recogniser(graphs, family, unknown)
        self._features = FEATURES.get(family.name, FeatureOptions())
        self.sample_rate_hz = sample_rate_hz
        self.blank = self._recogniser.blank
        """Token that stands for nothing."""

    @property
    def tail_samples(self) -> int:
        """Silence that is added to audio, until everything has passed the encoder."""
        return round((self._recogniser.window_frames * FRAME_SHIFT_S + EMISSION_DELAY_S) * self.sample_rate_hz)

    def features(self, samples: Float32Array) -> Float32Array:
        """Mel features of mono audio at the model's rate, (frames, bins), the silence at the end included."""
        padded = np.concatenate((samples, np.zeros(self.tail_samples, np.float32)))
        return mel_features(padded, self.sample_rate_hz, self._features)

    def log_posteriors(self, samples: Float32Array, path: TokenPath | None = None) -> Float32Array:
        """Log-probabilities of the tokens for each frame of the encoder, (frames, tokens).

        The states run free: they are the model's own from the first chunk on. Paraformer has a row for each token.

        Args:
            samples: Mono, at the model's rate; silence is added until everything has passed the encoder.
            path: For transducers: the tokens to assume emitted (teacher forcing), so that two models are compared at
                the same places; their own by default. CTC models have no memory of tokens and need none.
        """
        return self._recogniser.log_posteriors([self.features(samples)], None if path is None else [path])[0]

    def batch_log_posteriors(
        self, batch: Sequence[Float32Array], paths: Sequence[TokenPath] | None = None
    ) -> list[Float32Array]:
        """The same for several recordings in one run a step; shorter ones leave the batch as they end."""
        return self._recogniser.log_posteriors([self.features(samples) for samples in batch], paths)

    def greedy(self, samples: Float32Array) -> TokenPath:
        """Greedy search as sherpa-onnx does it."""
        return self._recogniser.greedy(self.features(samples))

    def steps(self, samples: Float32Array) -> Iterator[tuple[str, Inputs]]:
        """Every run of every graph while decoding greedily: role and inputs, states included."""
        return self._recogniser.steps(self.features(samples))


_TRANSDUCERS = (
    "zipformer2-transducer",
    "zipformer-transducer",
    "conformer-transducer",
    "lstm-transducer",
    "ebranchformer-transducer",
)
_CTC = ("zipformer2-ctc", "nemo-ctc-streaming", "wenet-ctc-streaming")
_PARAFORMER = "paraformer-streaming"
_RUNNABLE = (*_TRANSDUCERS, *_CTC, _PARAFORMER)


def can_run(family: ModelFamily) -> bool:
    """Whether models of the family can be run here, step by step."""
    return family.name in _RUNNABLE


def _recogniser(graphs: Mapping[str, Graph], family: ModelFamily, unknown: int | None) -> _Recogniser:
    if family.name == _PARAFORMER:
        return ParaformerRecogniser(graphs)
    if family.name in _CTC:
        return CtcRecogniser(graphs, family.name)
    return TransducerRecogniser(graphs, family.name, unknown)
