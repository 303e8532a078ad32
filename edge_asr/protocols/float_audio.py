"""Whether bytes can be 32-bit float audio: the commonest mistake of clients that must send it is 16-bit samples.

No numpy here: the front process stays small, and a glance at the first samples is enough.
"""

from __future__ import annotations

import sys
from array import array

from edge_asr.errors import ProtocolViolation

LOUDEST = 16.0
"""Far beyond full scale, which is 1; clipped or badly scaled speech of a few times full scale is still speech."""

QUIETEST = 1e-12
"""Far below the rounding of 24-bit audio. Two 16-bit samples read as one float are nearly all smaller than this,
larger than :data:`LOUDEST`, or no number."""

MAX_STRANGE_SHARE = 0.5
"""Of samples that are not zero. The ringing of a resampler before the first sound is strange too, but it is short."""

FEWEST_SAMPLES = 400
"""Samples that are not zero before there is a verdict."""

ENOUGH_SAMPLES = 1_600
"""As many after which the stream is trusted; 0.1 s at 16 kHz."""


class FloatCheck:
    """Looks at the beginning of a stream of little-endian 32-bit floats."""

    def __init__(self) -> None:
        self._rest = b""
        self._seen = 0
        self._strange = 0

    def look(self, data: bytes) -> None:
        """Look at a piece, which may end inside a sample.

        Raises:
            ProtocolViolation: This is no float audio.
        """
        if self._seen >= ENOUGH_SAMPLES:
            return
        whole = self._rest + data[: 4 * ENOUGH_SAMPLES]
        end = len(whole) // 4 * 4
        begun = (len(self._rest) + len(data)) % 4
        self._rest = (self._rest + data[-3:])[-begun:] if begun else b""
        samples = array("f", whole[:end])
        if sys.byteorder == "big":
            samples.byteswap()
        sounds = [abs(sample) for sample in samples if sample != 0.0]
        strange = [size for size in sounds if not QUIETEST < size < LOUDEST]  # NaN is neither
        self._seen += len(sounds)
        self._strange += len(strange)
        if self._seen >= FEWEST_SAMPLES and self._strange > MAX_STRANGE_SHARE * self._seen:
            example = max(strange, default=0.0)
            raise ProtocolViolation(
                f"this protocol takes 32-bit floats from -1 to 1, and {self._strange} of the first {self._seen} "
                f"samples are none (such as {example:g}); 16-bit samples must be divided by 32768 first"
            )
