"""What is the same for every model that gets a whole stretch of speech: what it is spared, and where its words are.

Such models write fluent nonsense for noise and offsets, and some end in an error for a few milliseconds of audio; so
what cannot hold speech never reaches them.
"""

from __future__ import annotations

import itertools

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.samples import loudest_dbfs, window_levels_dbfs

SHORTEST_S = 0.1
"""No word is shorter; Moonshine fails on 10 ms."""

PADDED_TO_S = 0.5
"""Shorter speech is given to the model with silence around it."""

SILENCE_DBFS = -55.0
"""Audio whose loudest window is quieter is silence: Moonshine makes sentences out of noise at -60 dBFS."""

LEVEL_WINDOW_S = 0.032

SPEECH_BELOW_PEAK_DB = 30.0
"""Windows that much quieter than the loudest are not where the words are, when they are spread over the time."""


def holds_speech(samples: Float32Array, sample_rate_hz: int, max_segment_s: float) -> bool:
    """Whether a model should see these samples, which are ``usable``.

    Raises:
        ValueError: They are longer than ``max_segment_s``.
    """
    duration_s = len(samples) / sample_rate_hz
    if duration_s > max_segment_s:
        raise ValueError(f"{duration_s:.1f} s of speech; this model takes {max_segment_s:.0f} s at once")
    return duration_s >= SHORTEST_S and loudest_dbfs(samples, round(LEVEL_WINDOW_S * sample_rate_hz)) >= SILENCE_DBFS


def spread(texts: list[str], begin_s: float, end_s: float) -> list[float]:
    """Start times of texts that follow one another from ``begin_s`` to ``end_s``, each as long as its characters."""
    lengths = [max(1, len(text.strip())) for text in texts]
    before = itertools.accumulate(lengths[:-1], initial=0) if lengths else ()
    return [begin_s + (end_s - begin_s) * characters / sum(lengths) for characters in before]


def loud_part_s(samples: Float32Array, sample_rate_hz: int) -> tuple[float, float]:
    """From the first to the end of the last window that is not much quieter than the loudest, seconds."""
    window = min(round(LEVEL_WINDOW_S * sample_rate_hz), max(1, len(samples)))
    levels = window_levels_dbfs(samples, window)
    if not len(levels):
        return 0.0, len(samples) / sample_rate_hz
    loud = np.flatnonzero(levels >= levels.max() - SPEECH_BELOW_PEAK_DB)
    return float(loud[0] * window / sample_rate_hz), float((loud[-1] + 1) * window / sample_rate_hz)
