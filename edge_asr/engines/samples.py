"""Audio as native engines can bear it, and how loud it is."""

from __future__ import annotations

from typing import cast

import numpy as np

from edge_asr.audio import LOUDEST, Float32Array

QUIETEST_DBFS = -120.0
"""What digital silence is said to have."""
_LEAST_POWER = np.float32(10 ** (QUIETEST_DBFS / 10))


def usable(samples: Float32Array) -> Float32Array:
    """The samples as a native engine may be given them: float32, one dimension, finite, within [-1, 1].

    One NaN would spoil all later text of a stream, and so would a sample of 1e30. Samples that are no sound (not
    finite, or beyond :data:`~edge_asr.audio.LOUDEST`) become 0, since at full scale they would be a click that a model
    hears; the session has counted and announced them by then. Called for every piece of audio: the usual case copies
    nothing.

    Raises:
        ValueError: The array has more than one dimension (interleaved channels would be decoded as speech), or holds
            integers (which nobody has scaled).
    """
    samples = np.asarray(samples)
    if samples.ndim != 1:
        raise ValueError(f"samples of shape {samples.shape}: one dimension is expected, (n,)")
    if samples.dtype.kind != "f":
        raise ValueError(f"samples of type {samples.dtype}: floating point in [-1, 1] is expected")
    samples = samples.astype(np.float32, copy=False)
    if not samples.size:
        return samples
    if samples.min() >= -1.0 and samples.max() <= 1.0:  # false for NaN too
        return samples
    sound = np.where(np.abs(samples) <= LOUDEST, samples, np.float32(0))  # NaN compares false
    return cast("Float32Array", np.clip(sound, -1.0, 1.0))


def window_levels_dbfs(samples: Float32Array, window_samples: int) -> Float32Array:
    """Loudness of each whole window, shape (n // window_samples,): rms around the window's mean, in dB of full scale.

    The mean is left out because a constant offset, which cheap sound cards have, is not sound.
    """
    windows = samples[: len(samples) // window_samples * window_samples].reshape(-1, window_samples)
    # As windows.var(axis=1), without its layers of Python: called for every piece of live audio, twice.
    deviations = windows - np.add.reduce(windows, axis=1, keepdims=True) / np.float32(window_samples)
    power = np.einsum("ij,ij->i", deviations, deviations) / np.float32(window_samples)
    return cast("Float32Array", 10 * np.log10(np.maximum(power, _LEAST_POWER)))


def loudest_dbfs(samples: Float32Array, window_samples: int) -> float:
    """Level of the loudest window; the whole is one window when it is shorter than that."""
    if not len(samples):
        return QUIETEST_DBFS
    return float(window_levels_dbfs(samples, min(window_samples, len(samples))).max())
