"""Voice activity: is there speech in this window of 32 ms?

:class:`SileroVoiceActivity` is a small neural network; :class:`EnergyVoiceActivity` stands in where its model is not
installed. Each object follows one stream: it is given every window, in order, with its level.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import sherpa_onnx

from edge_asr.audio import Float32Array
from edge_asr.engines.samples import QUIETEST_DBFS, window_levels_dbfs

VAD_RATE_HZ = 16_000
WINDOW_SAMPLES = 512
"""Audio of one decision at 16 kHz."""

WINDOW_S = WINDOW_SAMPLES / VAD_RATE_HZ

FLOOR_DBFS = -60.0
"""Quieter windows are silence without a closer look."""


class VoiceActivity(Protocol):
    """Follows one stream."""

    def hears_speech(self, window: Float32Array, level_dbfs: float) -> bool:
        """Whether the next window holds speech.

        Args:
            window: The samples, shape (WINDOW_SAMPLES,).
            level_dbfs: Their level, see :func:`edge_asr.engines.samples.window_levels_dbfs`.
        """
        ...

    def reset(self) -> None:
        """Begin with another stream."""
        ...


class EnergyVoiceActivity:
    """Speech is what is clearly louder than the background, and changes its loudness from one window to the next.

    The background falls to a quieter window at once and rises slowly, so that speech, which has pauses, does not become
    its own background, while a fan that is switched on does after some seconds. Until then its noise is loud, but
    steady: models write "You" for it. Changes are those of the differentiated audio, in which noise of any colour is
    as steady as white noise is. Of 167 spoken digits and 139 telephone prompts this takes none for noise, and hears
    the first window of the others 0.1 s late at most in 19 of 20.
    """

    ABOVE_BACKGROUND_DB = 12.0
    QUIETEST_SPEECH_DBFS = -50.0
    RISE_DB_PER_S = 3.0
    CHANGE_DB = 2.0
    """More than white noise ever changes from one window to the next (a standard deviation of 0.4)."""
    BEGINNING = (1 << 10) - 1, 2
    """Speech begins when so many of the newest 10 windows (0.3 s) changed,"""
    GOING_ON = (1 << 31) - 1, 1
    """and goes on while one of the newest 31 did: vowels are held."""

    def __init__(self) -> None:
        self._background_dbfs = FLOOR_DBFS
        self._differentiated_dbfs = QUIETEST_DBFS
        self._last_sample: Float32Array | None = None
        self._changes = 0
        """Whether each of the newest windows changed, one bit each."""
        self._is_speech = False

    def hears_speech(self, window: Float32Array, level_dbfs: float) -> bool:
        """Whether the window is loud enough, and has changed of late."""
        risen = self._background_dbfs + self.RISE_DB_PER_S * WINDOW_S
        self._background_dbfs = max(FLOOR_DBFS, min(level_dbfs, risen))
        self._note_change(window, level_dbfs)
        newest, least = self.GOING_ON if self._is_speech else self.BEGINNING
        is_loud = level_dbfs >= max(self.QUIETEST_SPEECH_DBFS, self._background_dbfs + self.ABOVE_BACKGROUND_DB)
        self._is_speech = is_loud and (self._changes & newest).bit_count() >= least
        return self._is_speech

    def reset(self) -> None:
        """Forget what was heard."""
        self._background_dbfs = FLOOR_DBFS
        self._differentiated_dbfs = QUIETEST_DBFS
        self._last_sample = None
        self._changes = 0
        self._is_speech = False

    def _note_change(self, window: Float32Array, level_dbfs: float) -> None:
        steps = np.diff(window, prepend=window[:1] if self._last_sample is None else self._last_sample)
        self._last_sample = window[-1:].copy()
        before_dbfs, self._differentiated_dbfs = self._differentiated_dbfs, window_levels_dbfs(steps, len(steps)).item()
        changed = level_dbfs > FLOOR_DBFS and abs(self._differentiated_dbfs - before_dbfs) > self.CHANGE_DB
        self._changes = (self._changes << 1 | changed) & self.GOING_ON[0]


class SileroVoiceActivity:
    """The silero network, asked only where its answer is not known.

    A decision costs 0.1 ms (x86-64): a sixth of what Moonshine tiny costs for the same audio. So windows below the
    floor are silence, and with ``trust_windows`` a stretch that the network has heard as speech is taken to go on for
    so many windows while it stays about as loud. A pause is quieter and is asked about at once.

    Args:
        model: A native ``VadModel`` made by :func:`load_silero`; it holds the network's state, so it is not shared.
        trust_windows: 0 asks about every window.
    """

    STREAK = 4
    """Windows heard as speech in a row before speech is trusted to go on (0.13 s)."""
    QUIETER_DB = 15.0
    """A window that much quieter than the speech before it is asked about."""
    FORGETTING = 0.9
    SILENT_WINDOWS_TO_RESET = 16
    CONTEXT_SAMPLES = 64
    """What the network sees of the window before."""

    def __init__(self, model: Any, trust_windows: int = 0) -> None:  # noqa: ANN401  native
        self._model = model
        self._trust_windows = trust_windows
        self._context: Float32Array = np.zeros(self.CONTEXT_SAMPLES, np.float32)
        self._streak = 0  # windows heard as speech, since speech was last trusted
        self._trusted = 0  # windows that still need not be asked about
        self._speech_dbfs = 0.0
        self._silent_windows = 0

    def hears_speech(self, window: Float32Array, level_dbfs: float) -> bool:
        """Whether the network hears speech, or need not be asked."""
        context, self._context = self._context, window[-self.CONTEXT_SAMPLES :]
        if level_dbfs < FLOOR_DBFS:
            self._pass_silence()
            return False
        self._silent_windows = 0
        if self._trusted and level_dbfs > self._speech_dbfs - self.QUIETER_DB:
            self._trusted -= 1
            return True
        heard = bool(self._model.is_speech(np.concatenate([context, window]).tolist()))
        self._count(heard=heard, level_dbfs=level_dbfs)
        return heard

    def reset(self) -> None:
        """Forget what was heard."""
        self._model.reset()
        self._context = np.zeros(self.CONTEXT_SAMPLES, np.float32)
        self._streak = self._trusted = self._silent_windows = 0
        self._speech_dbfs = 0.0

    def _pass_silence(self) -> None:
        self._streak = self._trusted = 0
        self._silent_windows += 1
        if self._silent_windows == self.SILENT_WINDOWS_TO_RESET:
            self._model.reset()  # it has not seen the silence, and must not take up speech of long ago

    def _count(self, *, heard: bool, level_dbfs: float) -> None:
        if not heard:
            self._streak = self._trusted = 0
            return
        self._streak += 1
        blend = self.FORGETTING if self._streak > 1 else 0.0
        self._speech_dbfs = blend * self._speech_dbfs + (1 - blend) * level_dbfs
        if self._streak >= self.STREAK:
            self._streak = 0
            self._trusted = self._trust_windows


def load_silero(path: Path, threshold: float) -> Any:  # noqa: ANN401  native
    """A native silero model with a fresh state.

    Its own smoothing is switched off as far as it goes (one window): callers have their own. Other exports of silero
    than the 16 kHz one of opset 15 end the process; inspection refuses them first.
    """
    silero = sherpa_onnx.SileroVadModelConfig(
        model=str(path),
        threshold=threshold,
        min_silence_duration=WINDOW_S / 2,
        min_speech_duration=WINDOW_S / 2,
        window_size=WINDOW_SAMPLES,
    )
    config = sherpa_onnx.VadModelConfig(silero_vad=silero, sample_rate=VAD_RATE_HZ, num_threads=1, provider="cpu")
    return sherpa_onnx.VadModel.create(config)
