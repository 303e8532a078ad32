"""What float samples may hold and integers cannot: values that are no number, and peaks beyond full scale."""

from __future__ import annotations

import numpy as np

from edge_asr.audio import Float32Array


class LevelCheck:
    """Looks at blocks as they pass; they are not changed (the session replaces what is no number)."""

    def __init__(self) -> None:
        self._peak = 0.0
        self._not_finite = 0

    def observe(self, samples: Float32Array) -> Float32Array:
        """Look at a block, shape (n,), and hand it on."""
        if len(samples):
            peak = float(np.abs(samples).max())  # NaN if any is
            if not np.isfinite(peak):
                is_finite = np.isfinite(samples)
                self._not_finite += int(np.count_nonzero(~is_finite))
                peak = float(np.abs(samples[is_finite]).max(initial=0))
            self._peak = max(self._peak, peak)
        return samples

    def warnings(self) -> list[str]:
        """What was found, as sentences."""
        found = []
        if self._not_finite:
            found.append(f"{self._not_finite} samples are not finite numbers and count as silence")
        if self._peak > 1.0:
            found.append(f"the loudest sample is {self._peak:.3g}, beyond full scale (1.0)")
        return found
