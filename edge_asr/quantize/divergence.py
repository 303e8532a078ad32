"""How far a quantized model's token posteriors are from the original's; pure.

Both models have heard the same audio, each with its own states from the first chunk on, so that what a quantized node
does to the caches counts too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edge_asr.audio import Float32Array

_NEVER = -30.0
"""Log-probabilities below are taken for that: the logarithm of 1e-13."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """Of one model from another, over all frames of all recordings."""

    nats: float
    """Mean Kullback-Leibler divergence per frame of the encoder, original to quantized."""
    flips: float
    """Share of frames whose most likely token is another."""
    blank_drift: float
    """Mean change of the blank's probability: above zero, tokens are lost."""
    frames: int

    @property
    def harm(self) -> float:
        """One number to rank by: the divergence, and what of it goes one way into the blank.

        Published int8 models that lost half their accuracy lost it by deletions, which a drift towards the blank is the
        beginning of; a drift that is small in each frame but the same in all of them hardly shows in the divergence.
        """
        return self.nats + max(0.0, self.blank_drift)


def divergence(original: Sequence[Float32Array], quantized: Sequence[Float32Array], blank: int) -> Divergence:
    """Compare posteriors.

    Args:
        original: For each recording log-probabilities, (frames, tokens).
        quantized: The same of the other model. Models that decide themselves how many rows there are (Paraformer) may
            give more or fewer; those that have no partner count as if they were impossible.
        blank: Index of the blank.

    Raises:
        ValueError: There is nothing to compare, or the vocabularies differ.
    """
    nats = flips = drift = 0.0
    frames = 0
    for before, after in zip(original, quantized, strict=True):
        if before.shape[1] != after.shape[1]:
            raise ValueError(f"posteriors of {before.shape[1]} and {after.shape[1]} tokens cannot be compared")
        unpaired = abs(len(before) - len(after))
        nats, flips, frames = nats - unpaired * _NEVER, flips + unpaired, frames + unpaired
        paired = min(len(before), len(after))
        before, after = before[:paired], after[:paired]  # noqa: PLW2901
        if not np.isfinite(after).any(axis=-1).all():
            return Divergence(float("inf"), 1.0, 0.0, frames + len(before))
        p, q = np.maximum(before, _NEVER), np.maximum(after, _NEVER)
        probabilities = np.exp(p)
        nats += float(np.sum(probabilities * (p - q)))
        flips += float(np.count_nonzero(p.argmax(axis=-1) != q.argmax(axis=-1)))
        drift += float(np.sum(np.exp(q[:, blank]) - probabilities[:, blank]))
        frames += len(before)
    if not frames:
        raise ValueError("there is no frame to compare")
    return Divergence(nats / frames, flips / frames, drift / frames, frames)
