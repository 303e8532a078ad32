"""Whether the audio was cut off at full scale before it came here: a microphone that is turned up too far.

Cut-off peaks are flat: neighbouring samples that are equal, at or near the largest value that can be written. The peak
of a loud recording that was not cut off is a single sample there.
"""

from __future__ import annotations

import numpy as np

from edge_asr.audio import Float32Array

NEAR_FULL_SCALE = 0.97
"""Full scale in G.711 is 0.98."""

WINDOW_S = 5.0

TOO_MUCH = 0.001
"""Share of the samples of a window that are cut off from which words suffer."""


class ClippingWatch:
    """Follows one stream of audio.

    Args:
        sample_rate_hz: Of the audio as it came: resampled peaks are not flat.
    """

    def __init__(self, sample_rate_hz: int) -> None:
        self._window = round(WINDOW_S * sample_rate_hz)
        self._heard = self._flat = 0
        self._last = np.float32(0)

    def hear(self, samples: Float32Array) -> int:
        """Look at the next samples, shape (n,).

        Returns:
            How many samples of the last five seconds are cut off, once, where they are too many; else 0.
        """
        if not len(samples):
            return 0
        if max(samples.max(), -samples.min()) >= NEAR_FULL_SCALE:
            follows = np.concatenate(((self._last,), samples))
            self._flat += int(np.count_nonzero((follows[1:] == follows[:-1]) & (np.abs(samples) >= NEAR_FULL_SCALE)))
        self._last = samples[-1]
        self._heard += len(samples)
        if self._heard < self._window:
            return 0
        return self.end()

    def end(self) -> int:
        """Judge what was heard since the last full window, as :meth:`hear` does."""
        flat, heard = self._flat, self._heard
        self._heard = self._flat = 0
        return flat if flat > TOO_MUCH * heard else 0
