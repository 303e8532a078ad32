"""Noise that could be speech, by its loudness: it swells and fades like syllables."""

from __future__ import annotations

import numpy as np

from edge_asr.audio import Float32Array

SYLLABLE_S = 0.2
QUIETEST = 0.3
"""Of the loudness in the middle of a syllable."""


def syllables(count: int, rate_hz: int, rms: float, seed: int) -> Float32Array:
    """Shape (count,): white noise that is loudest, ``rms``, in the middle of each syllable."""
    phase = np.arange(count) / (SYLLABLE_S * rate_hz)
    loudness = QUIETEST + (1 - QUIETEST) * np.sin(np.pi * phase) ** 2
    return (rms * loudness * np.random.default_rng(seed).standard_normal(count)).astype(np.float32)
