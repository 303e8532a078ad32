"""The first stage: samples that are no audio are replaced, since one NaN spoils a stream's state for good."""

from __future__ import annotations

import numpy as np

from edge_asr.audio import LOUDEST, Float32Array


def replace_non_finite(samples: Float32Array) -> tuple[Float32Array, int]:
    """Replace NaN, infinite and absurdly large samples by silence.

    Args:
        samples: Mono PCM, shape (n,), any values.

    Returns:
        The samples (the same array when nothing had to be replaced) and how many were replaced.
    """
    # NaN compares false, so one comparison finds all three kinds; the common case costs one pass.
    is_sound = np.abs(samples) <= LOUDEST
    if is_sound.all():
        return samples, 0
    return np.where(is_sound, samples, np.float32(0)), int(np.count_nonzero(~is_sound))
