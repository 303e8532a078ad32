"""Could this be speech at all? What nobody can have said is not passed on, whatever the model makes of it.

Models write words for silence, faint noise and tones. Speech is louder than a floor and its loudness changes from one
frame to the next; a tone, a siren or a beep is as loud all the time but for its ends, and so is the noise of a fan.
Of 2,000 spoken digits, 309 spoken orders and 544 telephone prompts none is missed; with pink noise 6 dB below the
speech one is, the letter a.
"""

from __future__ import annotations

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.samples import QUIETEST_DBFS, window_levels_dbfs

FRAME_S = 0.02

FLOOR_DBFS = -55.0
"""Quieter frames hold no word: noise at -60 is no speech."""

CHANGE_DB = 1.0
"""Least change of loudness from the frame before; of white noise one frame in 25 changes by more."""

WINDOW_FRAMES = 10
"""Frames that are looked at together (0.2 s): a syllable."""

CHANGING_FRAMES = 4
"""Of them, those that must change; a click has one, a beep two or three."""


class SpeechPresence:
    """Follows one stream of audio.

    Args:
        sample_rate_hz: Of the audio.
    """

    def __init__(self, sample_rate_hz: int) -> None:
        self._frame = round(FRAME_S * sample_rate_hz)
        self._rest: Float32Array = np.zeros(0, np.float32)
        self._level_dbfs = QUIETEST_DBFS
        self._window = 0
        """Whether each of the newest frames changed, one bit each."""

    def hear(self, samples: Float32Array) -> bool:
        """Take the next samples, shape (n,); whether some of the frames completed by them could be speech."""
        audio = np.concatenate((self._rest, samples)) if len(self._rest) else samples
        self._rest = audio[len(audio) // self._frame * self._frame :].copy()
        could_be = False
        for level_dbfs in window_levels_dbfs(audio, self._frame).tolist():
            changes = level_dbfs > FLOOR_DBFS and abs(level_dbfs - self._level_dbfs) > CHANGE_DB
            self._window = (self._window << 1 | changes) & ((1 << WINDOW_FRAMES) - 1)
            self._level_dbfs = level_dbfs
            could_be = could_be or self._window.bit_count() >= CHANGING_FRAMES
        return could_be
