"""How loud a stretch of recording is, and whether a microphone is behind it at all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from edge_asr.audio import Float32Array

CLIPPED = 0.999
"""Amplitude, of full scale 1.0, from which a sample counts as cut off."""


@dataclass(frozen=True, slots=True)
class Level:
    """How loud a stretch of recording was, in decibels below full scale."""

    peak_dbfs: float | None
    """Of the loudest sample; ``None`` for digital silence, which no open microphone delivers."""
    rms_dbfs: float | None
    offset: float
    """Mean of the samples (direct current), of full scale 1.0."""
    clipped: float
    """Share of samples that are cut off, 0 to 1."""


def level_of(samples: Float32Array) -> Level:
    """Measure mono PCM, shape (n,), range [-1, 1]."""
    if not len(samples):
        return Level(None, None, 0.0, 0.0)
    amplitudes = np.abs(samples)
    return Level(
        peak_dbfs=_decibels(float(amplitudes.max())),
        rms_dbfs=_decibels(math.sqrt(float(np.mean(np.square(samples, dtype=np.float64))))),
        offset=float(samples.mean(dtype=np.float64)),
        clipped=float(np.count_nonzero(amplitudes >= CLIPPED)) / len(samples),
    )


def _decibels(amplitude: float) -> float | None:
    return 20 * math.log10(amplitude) if amplitude > 0 else None


class DirectCurrent:
    """Takes the direct current out of a recording: its slow mean, followed with a time constant of a second.

    Cheap sound cards add up to half of full scale; models that look at the waveform hear other words then.

    Args:
        rate_hz: Samples per second.
    """

    TIME_CONSTANT_S = 1.0

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._offset: float | None = None

    def remove(self, samples: Float32Array) -> Float32Array:
        """The samples, shape (n,), without it; the same number of them."""
        if not len(samples):
            return samples
        mean = float(samples.mean(dtype=np.float64))
        before = mean if self._offset is None else self._offset
        share = 1 - math.exp(-len(samples) / (self._rate_hz * self.TIME_CONSTANT_S))
        self._offset = before + share * (mean - before)
        # From one offset to the next in a line: a step would be a click.
        slope = np.linspace(before, self._offset, len(samples), dtype=np.float32)
        cleaned: Float32Array = samples - slope
        return cleaned


Signal = Literal["sound", "silent", "stuck"]

SILENT_AFTER_S = 5.0
STUCK_AFTER_S = 2.0


class SignalWatch:
    """Tells sound from what no microphone delivers.

    ``silent``: nothing but zeros, as a muted microphone gives; it may come back. ``stuck``: nothing but one other
    value, as a driver gives that has lost its hardware.

    Args:
        rate_hz: Samples per second.
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._value: float | None = None
        self._run = 0

    def observe(self, samples: Float32Array) -> Signal:
        """Look at a block, shape (n,), as the card delivered it."""
        if len(samples):
            first = float(samples[0])
            if not (samples == samples[0]).all():
                self._value, self._run = None, 0
            elif first == self._value:
                self._run += len(samples)
            else:
                self._value, self._run = first, len(samples)
        if self._value is None:
            return "sound"
        if self._value == 0:
            return "silent" if self._run >= SILENT_AFTER_S * self._rate_hz else "sound"
        return "stuck" if self._run >= STUCK_AFTER_S * self._rate_hz else "sound"
