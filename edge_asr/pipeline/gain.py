"""A guard against audio beyond full scale: it is turned down, where an engine would cut its peaks off.

Only float samples can be beyond it; whole recordings with peaks of 15 exist. The gain falls with the peak itself and
comes back slowly. Worked out sample by sample, so it does not depend on how the audio was cut into pieces.
"""

from __future__ import annotations

import numpy as np

from edge_asr.audio import Float32Array

FRAME_S = 0.02
"""The gain comes back between frames."""

RECOVERY_DB_PER_S = 3.0


class GainGuard:
    """Follows one stream of audio.

    Args:
        sample_rate_hz: Of the audio.
    """

    def __init__(self, sample_rate_hz: int) -> None:
        self._frame = round(FRAME_S * sample_rate_hz)
        self._recovery = 10 ** (-RECOVERY_DB_PER_S * FRAME_S / 20)
        self._peak = 1.0
        """What is full scale at present."""
        self._filled = 0
        """Samples of the frame that has been begun."""

    def hold(self, samples: Float32Array) -> Float32Array:
        """The samples, shape (n,), within [-1, 1]; the same array where they are and have been for a while."""
        if self._peak == 1.0 and (not len(samples) or (samples.min() >= -1.0 and samples.max() <= 1.0)):
            self._filled = (self._filled + len(samples)) % self._frame
            return samples
        peaks = np.empty(len(samples), np.float32)
        begin = 0
        while begin < len(samples):
            end = min(begin + self._frame - self._filled, len(samples))
            peaks[begin:end] = np.maximum.accumulate(np.maximum(np.abs(samples[begin:end]), np.float32(self._peak)))
            self._peak = float(peaks[end - 1])
            self._filled += end - begin
            if self._filled == self._frame:
                self._filled = 0
                self._peak = max(1.0, self._peak * self._recovery)
            begin = end
        held: Float32Array = samples / peaks
        return held
