"""Whether samples are what their sender says: one channel of speech, or two of them, or no samples of that kind at all.

Two channels that are taken for one give each sample twice, or every other one as silence. Bytes that are read as
another encoding, or from their middle, are noise as loud as can be. Models write fluent sentences for all of these.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from edge_asr.audio import Float32Array

Layout = Literal["as_declared", "two_channels", "noise"]

WINDOW_S = 1.0

WINDOWS = 5
"""So many loud windows in a row must agree."""

TRUSTED_WINDOWS = 30
"""After so many in a row that are as declared, nothing is looked at any more."""

LOUD_RMS = 0.005

PAIRED = 0.05
"""Two channels of nearly the same: the steps within pairs have so little of the power of those between them."""

SILENT_CHANNEL = 1e-3
"""Or one channel has so little of the power of the other."""

SPEECH_CREST = 2.5
"""And its peak is so many times its rms: a tone at half the highest frequency also has every other sample at 0."""

NOISE_RMS = 0.25
WHITE = 0.2
"""Correlation of neighbouring samples: of speech it is 0.8 and more."""


class LayoutWatch:
    """Follows one stream of audio.

    Args:
        sample_rate_hz: Of the audio as it came.
    """

    def __init__(self, sample_rate_hz: int) -> None:
        self._window = round(WINDOW_S * sample_rate_hz) // 2 * 2
        self._pieces: list[Float32Array] = []
        self._held = 0
        self._suspected: Layout = "as_declared"
        self._in_a_row = 0
        self._is_decided = False

    def hear(self, samples: Float32Array) -> Layout:
        """Look at the next samples, shape (n,): a suspicion is said once, then nothing is looked at any more."""
        if self._is_decided:
            return "as_declared"
        self._pieces.append(samples)
        self._held += len(samples)
        if self._held < self._window:
            return "as_declared"
        audio = np.concatenate(self._pieces)
        whole = len(audio) // self._window * self._window
        self._pieces, self._held = [audio[whole:]], len(audio) - whole
        for begin in range(0, whole, self._window):
            self._count(layout_of(audio[begin : begin + self._window]))
            if self._is_decided:
                self._pieces = []
                return self._suspected
        return "as_declared"

    def _count(self, found: Layout | None) -> None:
        """One more window; ``None`` is one that says nothing."""
        if found is None:
            return
        self._in_a_row = self._in_a_row + 1 if found == self._suspected else 1
        self._suspected = found
        self._is_decided = self._in_a_row >= (TRUSTED_WINDOWS if found == "as_declared" else WINDOWS)


def layout_of(window: Float32Array) -> Layout | None:
    """What a window of audio, shape (an even n,), seems to be; ``None`` where it is too quiet to tell."""
    audio = window - window.mean()
    power = float(np.mean(np.square(audio)))
    if power < LOUD_RMS**2:
        return None
    even, odd = audio[::2], audio[1::2]
    within = float(np.mean(np.square(odd - even)))
    between = float(np.mean(np.square(even[1:] - odd[:-1])))
    if within < PAIRED * between or between < PAIRED * within or _has_silent_channel(even, odd):
        return "two_channels"
    correlation = float(np.mean(audio[1:] * audio[:-1])) / power
    return "noise" if power > NOISE_RMS**2 and abs(correlation) < WHITE else "as_declared"


def _has_silent_channel(even: Float32Array, odd: Float32Array) -> bool:
    weaker, stronger = sorted((even, odd), key=lambda channel: float(np.mean(np.square(channel))))
    power = float(np.mean(np.square(stronger)))
    is_silent = float(np.mean(np.square(weaker))) < SILENT_CHANNEL * power
    return is_silent and float(np.abs(stronger).max()) > SPEECH_CREST * power**0.5
