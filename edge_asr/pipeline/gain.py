"""A guard against audio beyond full scale: it is turned down, where an engine would cut its peaks off.

Only float samples can be beyond it; whole recordings with peaks of 15 exist. The gain falls with the peak itself and
comes back slowly. Worked out sample by sample, so it does not depend on how the audio was cut into pieces.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from edge_asr.audio import Float32Array

FRAME_S = 0.02
"""The gain comes back between frames."""

RECOVERY_DB_PER_S = 3.0


class GainGuard:
    """Follows one stream of audio; positions are samples of it.

    Args:
        sample_rate_hz: Of the audio.
        start: Where it begins here, when another one heard it up to there.
        peak: What :meth:`peak_at` of that one says of the place.
    """

    def __init__(self, sample_rate_hz: int, start: int = 0, peak: float = 1.0) -> None:
        self._frame = round(FRAME_S * sample_rate_hz)
        self._recovery = 10 ** (-RECOVERY_DB_PER_S * FRAME_S / 20)
        self._peak = peak
        """What is full scale at present."""
        self._heard = start
        self._past: deque[tuple[int, float]] = deque()
        """Places at which that changed."""

    def peak_at(self, position: int) -> float:
        """What was full scale at a position; what lies before it is forgotten."""
        while len(self._past) > 1 and self._past[1][0] <= position:
            self._past.popleft()
        return self._past[0][1] if self._past and self._past[0][0] <= position else 1.0

    def hold(self, samples: Float32Array) -> Float32Array:
        """The samples, shape (n,), within [-1, 1]; the same array where they are and have been for a while."""
        if self._peak == 1.0 and (not len(samples) or (samples.min() >= -1.0 and samples.max() <= 1.0)):
            self._heard += len(samples)
            return samples
        peaks = np.empty(len(samples), np.float32)
        begin = 0
        while begin < len(samples):
            end = min(begin + self._frame - self._heard % self._frame, len(samples))
            peaks[begin:end] = np.maximum.accumulate(np.maximum(np.abs(samples[begin:end]), np.float32(self._peak)))
            self._peak = float(peaks[end - 1])
            self._heard += end - begin
            if self._heard % self._frame == 0:
                self._peak = max(1.0, self._peak * self._recovery)
            self._past.append((self._heard, self._peak))
            begin = end
        held: Float32Array = samples / peaks
        return held
