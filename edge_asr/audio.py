"""Audio as values: one chunk of mono float samples and the array types used for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]
"""Mono PCM, shape (n,), nominal range [-1, 1]."""

LOUDEST = 1000.0
"""Nominal full scale is 1; float files with peaks of 15 exist, but nothing beyond this is sound."""


@dataclass(frozen=True, slots=True, eq=False)
class AudioChunk:
    """A stretch of one channel, in the order in which it was captured."""

    samples: Float32Array
    """Mono PCM, shape (n,), float32, nominal range [-1, 1]."""
    sample_rate_hz: int
    """Samples per second of ``samples``."""
    start_sample: int
    """Index of the first sample since the session began, counted at ``sample_rate_hz``."""
    captured_ns: int
    """Monotonic time of the last sample, nanoseconds; 0 when it was not captured live."""
    gap_samples: int = 0
    """Samples lost just before this chunk (an overrun, or a bounded queue that dropped them)."""

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.sample_rate_hz
