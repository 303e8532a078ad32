"""Streaming models run step by step through ONNX Runtime, with every input and posterior in our hands.

Used on workstations, where the native engine shows only its text: calibration needs what goes into a graph, and
sensitivity needs the posteriors that come out of it. Features, state and search are those of sherpa-onnx, so the text
is too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from edge_asr.audio import Float32Array
from edge_asr.families import ModelFamily

Inputs = dict[str, npt.NDArray[np.generic]]
"""What one run of a graph is given, by name."""


@dataclass(frozen=True, slots=True)
class TokenPath:
    """What greedy search found: for each frame of the encoder the token it emitted there, 0 for none."""

    frames: tuple[int, ...]

    @property
    def tokens(self) -> tuple[int, ...]:
        """Without the blanks."""
        return tuple(token for token in self.frames if token)


class StreamingRunner:
    """A streaming model, its float or a quantized version."""

    def __init__(self, files: Mapping[str, Path | bytes], family: ModelFamily, *, threads: int = 1) -> None:
        """Load the graphs.

        Args:
            files: Role to file, or to the serialized graph; roles that are no graphs are ignored.
            family: How the parts fit together.
            threads: Of each session.

        Raises:
            ModelUnsupported: The family cannot be run here.
            ModelDamaged: ONNX Runtime cannot load a graph, or its states do not pair.
        """
        raise NotImplementedError

    def features(self, samples: Float32Array) -> Float32Array:
        """Mel features of mono audio at the model's rate, (frames, bins), as sherpa-onnx computes them."""
        raise NotImplementedError

    def log_posteriors(self, samples: Float32Array, path: TokenPath | None = None) -> Float32Array:
        """Log-probabilities of the tokens for each frame of the encoder, (frames, tokens).

        The states run free: they are the model's own from the first chunk on.

        Args:
            samples: Mono, at the model's rate; silence is added until everything has passed the encoder.
            path: For transducers: the tokens to assume emitted (teacher forcing), so that two models are compared at
                the same places; their own by default.
        """
        raise NotImplementedError

    def batch_log_posteriors(self, batch: Sequence[Float32Array]) -> list[Float32Array]:
        """The same for several recordings in one run a step; shorter ones leave the batch as they end."""
        raise NotImplementedError

    def greedy(self, samples: Float32Array) -> TokenPath:
        """Greedy search as sherpa-onnx does it."""
        raise NotImplementedError

    def steps(self, samples: Float32Array) -> Iterator[tuple[str, Inputs]]:
        """Every run of every graph while decoding greedily: role and inputs, states included."""
        raise NotImplementedError
