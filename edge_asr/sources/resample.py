"""Any rate to any rate, piece by piece: the same output however the audio is cut."""

from __future__ import annotations

import numpy as np
import soxr

from edge_asr.audio import Float32Array


class StreamResampler:
    """Holds the filter's memory between pieces. At equal rates it passes the arrays on untouched.

    Quality is soxr's HQ, whose delay (some 20 ms at the engine's rate) :meth:`flush` gives back at the end: after it,
    as many samples have come out as the duration of those put in is worth, to within one.
    """

    def __init__(self, from_hz: int, to_hz: int) -> None:
        if from_hz <= 0 or to_hz <= 0:
            raise ValueError(f"cannot resample from {from_hz} Hz to {to_hz} Hz: rates are positive")
        self._soxr = soxr.ResampleStream(from_hz, to_hz, 1, dtype="float32") if from_hz != to_hz else None
        self._has_flushed = False

    def process(self, samples: Float32Array) -> Float32Array:
        """Take mono PCM, shape (n,); n may be 0.

        Returns:
            What is ready so far, shape (m,); m may be 0.
        """
        if self._has_flushed:
            raise RuntimeError("the resampler was flushed; make a new one for new audio")
        if self._soxr is None:
            return samples
        if not len(samples):
            return _nothing()
        output: Float32Array = self._soxr.resample_chunk(np.ascontiguousarray(samples, np.float32))
        return output

    def flush(self) -> Float32Array:
        """No more audio: the rest. A second call gives nothing."""
        if self._soxr is None or self._has_flushed:
            self._has_flushed = True
            return _nothing()
        self._has_flushed = True
        rest: Float32Array = self._soxr.resample_chunk(_nothing(), last=True)
        return rest


def _nothing() -> Float32Array:
    return np.zeros(0, np.float32)
