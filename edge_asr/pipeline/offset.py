"""Takes a constant offset (direct current) out of the audio: cheap sound cards add up to half of full scale.

Models that look at the waveform, and voice activity detectors, hear other words then, or none in quiet speech. The
offset is the mean of all audio so far, of the last second or so once there is more. What is too small to matter is
left alone, so that audio without an offset passes as it is.

Worked out frame by frame, so it does not depend on how the audio was cut into pieces: each frame loses what was known
before it, in a line from one frame to the next, since a step would be a click. Only the very first frame has to be
complete before it goes on.
"""

from __future__ import annotations

from array import array

import numpy as np

from edge_asr.audio import Float32Array

FRAME_S = 0.02

TIME_CONSTANT_S = 1.0
"""How quickly an offset that changes is followed."""

HARMLESS = 0.001
"""So much (-60 dB of full scale) stays: the mean of speech wanders about 0 by as much."""


class OffsetRemover:
    """Follows one stream of audio; positions are samples of it.

    Args:
        sample_rate_hz: Of the audio.
        start: Where it begins here, when another one heard it up to there.
        known: What :meth:`known_at` of that one says of the place; ``None`` where nobody knows.
    """

    def __init__(self, sample_rate_hz: int, start: int = 0, known: tuple[float, float] | None = None) -> None:
        self._frame = round(FRAME_S * sample_rate_hz)
        self._least_share = self._frame / (TIME_CONSTANT_S * sample_rate_hz)
        self._frames = 0
        self._mean = 0.0
        self._first: Float32Array = np.zeros(0, np.float32)
        """What has come of the first frame."""
        self._filled = 0
        """Samples of the frame that is not complete yet."""
        self._sum = 0.0
        """Of them."""
        self._from = self._to = 0.0
        """What the frame loses at its beginning and its end."""
        self._past = array("d")
        """The mean after each frame, from the frame on that is next."""
        self._past_from = 0
        if known is not None and start >= self._frame:
            self._go_on(start, *known)

    def known_at(self, position: int) -> tuple[float, float] | None:
        """The offset before the frame at a position, and before the one before it; ``None`` within the first frame.

        What lies before that is forgotten: positions that are asked for never go back.
        """
        number = position // self._frame
        if number < 1 or not self._past:
            return None
        forgotten = min(max(0, number - 1 - self._past_from), len(self._past) - 1)
        del self._past[:forgotten]
        self._past_from += forgotten
        newest = len(self._past) - 1
        before, now = (min(max(0, each - self._past_from), newest) for each in (number - 1, number))
        return self._past[now], self._past[before]

    def _go_on(self, start: int, offset: float, offset_before: float) -> None:
        self._frames, self._filled = divmod(start, self._frame)
        self._mean = offset
        self._sum = self._filled * offset  # of what another one heard of the frame, as far as anybody knows
        self._from, self._to = excess(offset_before), excess(offset)
        self._past_from = self._frames - 1
        self._past.extend((offset_before, offset))

    def remove(self, samples: Float32Array) -> Float32Array:
        """The samples without the offset; the first frame is held back until it is complete.

        Args:
            samples: Mono PCM, shape (n,), finite.
        """
        if not self._frames:
            self._first = samples = np.concatenate((self._first, samples))
            if len(samples) < self._frame:
                return samples[:0]
            self._mean = float(samples[: self._frame].mean(dtype=np.float64))
            self._from = self._to = excess(self._mean)
            self._past.append(self._mean)
        return self._without(samples)

    def flush(self) -> Float32Array:
        """What is held back when the audio ends within its first frame."""
        rest, self._first = (self._first if not self._frames else self._first[:0]), self._first[:0]
        return rest

    def _without(self, samples: Float32Array) -> Float32Array:
        lines = self._lines(samples)
        if not any(begin or end for begin, end, _count in lines):
            return samples
        offset = np.concatenate([np.linspace(*line, endpoint=False, dtype=np.float32) for line in lines])
        cleaned: Float32Array = samples - offset
        return cleaned

    def _lines(self, samples: Float32Array) -> list[tuple[float, float, int]]:
        """What each part of a frame among the samples loses at its beginning and its end, and its length."""
        cuts = [0, *range(self._frame - self._filled, len(samples), self._frame)]
        sums: list[float] = np.add.reduceat(samples, cuts, dtype=np.float64).tolist() if len(samples) else []
        lines: list[tuple[float, float, int]] = []
        for begin, end, part_sum in zip(cuts, [*cuts[1:], len(samples)], sums, strict=False):
            count = end - begin
            lines.append((self._at(self._filled), self._at(self._filled + count), count))
            self._sum += part_sum
            self._filled += count
            if self._filled == self._frame:
                self._end_frame()
        return lines

    def _at(self, position: int) -> float:
        return self._from + (self._to - self._from) * position / self._frame

    def _end_frame(self) -> None:
        self._frames += 1
        self._mean += max(1 / self._frames, self._least_share) * (self._sum / self._frame - self._mean)
        self._from, self._to = self._to, excess(self._mean)
        self._filled, self._sum = 0, 0.0
        self._past.append(self._mean)


def excess(offset: float) -> float:
    """What of an offset is more than harmless."""
    return offset - min(HARMLESS, max(-HARMLESS, offset))
