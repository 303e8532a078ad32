"""Is a session still as quiet as its worker found it? Heard by the front, so that silence need not wake the worker.

Pure, and without numpy, which the front does not load for its memory. What it misses is heard by the worker a quarter
of a second later.
"""

from __future__ import annotations

from operator import mul
from typing import Final

from edge_asr.pipeline.energy import FRAME_S

SAMPLE_BYTES: Final = 2

_FULL_SCALE_POWER: Final = float(1 << 30)
_UNALIGNED_SHARE: Final = 0.5
"""A frame of the gate lies over two of these: where neither has half the power, it cannot have all of it."""
_EVERY: Final = 4
"""So much of the samples is enough to know the power of a frame within a decibel or two."""


class QuietWatch:
    """Follows one stream of 16-bit samples of one channel.

    Args:
        sample_rate_hz: As the client sends them.
    """

    def __init__(self, sample_rate_hz: int) -> None:
        self.quiet_dbfs = float("-inf")
        """The loudest frame that the worker takes for silence: rms around its mean, dB of full scale."""
        self._frame = round(FRAME_S * sample_rate_hz)
        self._unheard = b""
        self._skip = 0

    def begin(self, position: int) -> None:
        """Forget what was heard; the next audio begins at this byte of the session."""
        self._unheard = b""
        self._skip = position % SAMPLE_BYTES

    def hears_sound(self, piece: bytes) -> bool:
        """Whether a frame that ends in this piece may be more than silence."""
        audio = self._unheard + piece[self._skip :]
        self._skip = 0
        frame = self._frame
        whole = len(audio) // (SAMPLE_BYTES * frame) * SAMPLE_BYTES * frame
        self._unheard = audio[whole:]
        if audio.count(0) == len(audio):
            return False
        samples = memoryview(audio)[:whole].cast("h")
        most = _UNALIGNED_SHARE * _FULL_SCALE_POWER * 10 ** (self.quiet_dbfs / 10)
        return any(_power(samples[start : start + frame : _EVERY]) > most for start in range(0, len(samples), frame))


def _power(frame: memoryview[int]) -> float:
    """Mean square around the mean: a constant offset, which cheap sound cards have, is no sound."""
    energy: int = sum(map(mul, frame, frame))
    return energy / len(frame) - (sum(frame) / len(frame)) ** 2
