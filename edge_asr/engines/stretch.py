"""Where speech is: one open stretch at a time, from windows that hold speech and windows that do not.

A pure state machine over window numbers; no audio and no decoding. A stretch begins with the first window of speech
and ends only when its owner closes it: what is a pause and what is an end is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SMOOTH_WINDOWS = 5
"""A place to cut is judged by the loudness of so many windows around it."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One window."""

    level_dbfs: float
    is_speech: bool


class StretchTracker:
    """The windows since the last boundary, and the stretch of speech among them; all positions are window numbers."""

    def __init__(self) -> None:
        self._first = 0  # number of self._heard[0]
        self._heard: list[Heard] = []
        self.speech_begin: int | None = None
        """First window of the open stretch; ``None`` while there is none."""
        self.speech_end = 0
        """Number after the newest window of speech."""

    @property
    def position(self) -> int:
        """Number of the next window."""
        return self._first + len(self._heard)

    @property
    def silence(self) -> int:
        """Windows without speech at the end of the open stretch."""
        return self.position - self.speech_end

    def hear(self, heard: Heard) -> None:
        """The next window."""
        if heard.is_speech:
            if self.speech_begin is None:
                self.speech_begin = self.position
            self.speech_end = self.position + 1
        self._heard.append(heard)
        if self.speech_begin is None:
            self.forget_before(self.position)

    def close_before(self, boundary: int) -> None:
        """End the stretch at ``boundary``; speech heard after it is an open stretch again."""
        self.forget_before(boundary)
        speech = [self._first + index for index, heard in enumerate(self._heard) if heard.is_speech]
        self.speech_begin = speech[0] if speech else None
        self.speech_end = speech[-1] + 1 if speech else self.position
        if not speech:
            self.forget_before(self.position)

    def forget_before(self, window: int) -> None:
        """Windows before this one will not be looked at again."""
        count = min(max(0, window - self._first), len(self._heard))
        del self._heard[:count]
        self._first += count

    def best_cut(self, earliest: int, latest: int) -> int:
        """The quietest place between two windows, at which speech is interrupted least.

        Args:
            earliest: First window that may begin the rest.
            latest: Last one.
        """
        levels = [heard.level_dbfs for heard in self._heard[earliest - self._first : latest - self._first + 1]]
        return earliest + quietest(levels)


def quietest(levels_dbfs: Sequence[float]) -> int:
    """Index of the window around which it is quietest; the last one of several that are equal."""
    power = 10 ** (np.asarray(levels_dbfs, np.float64) / 10)
    width = min(SMOOTH_WINDOWS, len(power))
    smooth = np.convolve(power, np.ones(width) / width, mode="valid")
    last = len(smooth) - 1 - int(np.argmin(smooth[::-1]))
    return last + width // 2
