"""Audio of one stream that may still be needed, addressed by absolute position."""

from __future__ import annotations

import numpy as np

from edge_asr.audio import Float32Array


class AudioBuffer:
    """Samples from :attr:`start` to :attr:`end`, counted since the stream began."""

    def __init__(self) -> None:
        self._store: Float32Array = np.zeros(16_000, np.float32)
        self._used_from = 0
        self._used_to = 0
        self.start = 0

    @property
    def end(self) -> int:
        """Position after the newest sample."""
        return self.start + self._used_to - self._used_from

    def append(self, samples: Float32Array) -> None:
        """Add audio at the end."""
        if self._used_to + len(samples) > len(self._store):
            self._make_room(len(samples))
        self._store[self._used_to : self._used_to + len(samples)] = samples
        self._used_to += len(samples)

    def view(self, start: int, end: int) -> Float32Array:
        """The samples from ``start`` to ``end``, valid until the next ``append``.

        Raises:
            IndexError: Some of them are forgotten or have not come yet.
        """
        if not self.start <= start <= end <= self.end:
            raise IndexError(f"samples {start} to {end}; {self.start} to {self.end} are held")
        offset = self._used_from - self.start
        return self._store[start + offset : end + offset]

    def forget_before(self, position: int) -> None:
        """Older samples will not be asked for."""
        forgotten = min(max(0, position - self.start), self._used_to - self._used_from)
        self._used_from += forgotten
        self.start += forgotten

    def _make_room(self, samples: int) -> None:
        held = self._store[self._used_from : self._used_to]
        needed = len(held) + samples
        if 2 * needed > len(self._store):
            store = np.zeros(2 * needed, np.float32)
        else:
            store = self._store
            held = held.copy()  # the ranges may overlap
        store[: len(held)] = held
        self._store = store
        self._used_from, self._used_to = 0, len(held)
