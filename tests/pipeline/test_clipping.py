from __future__ import annotations

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.pipeline.clipping import WINDOW_S, ClippingWatch

RATE_HZ = 16_000


def recorded(gain: float, seconds: float = WINDOW_S) -> Float32Array:
    """A voice as a card with 16 bits writes it."""
    times = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    voice = np.sin(2 * np.pi * 130 * times) * (1 + np.sin(2 * np.pi * 4 * times)) / 2
    return np.asarray(np.clip(np.round(gain * voice * 32768), -32768, 32767) / 32768, np.float32)


def test_a_microphone_that_is_turned_up_too_far_is_found() -> None:
    found = ClippingWatch(RATE_HZ).hear(recorded(3.0))
    cut_off = np.abs(recorded(3.0)) > 0.999
    assert 0.95 * cut_off.sum() < found <= cut_off.sum()


def test_loud_audio_that_was_not_cut_off_is_not() -> None:
    assert ClippingWatch(RATE_HZ).hear(recorded(0.9999)) == 0


def test_it_is_said_when_the_window_is_full() -> None:
    watch = ClippingWatch(RATE_HZ)
    loud = recorded(3.0)
    assert watch.hear(loud[: len(loud) // 2]) == 0
    assert watch.hear(loud[len(loud) // 2 :]) == ClippingWatch(RATE_HZ).hear(loud)


def test_a_short_recording_is_judged_at_its_end() -> None:
    watch = ClippingWatch(RATE_HZ)
    watch.hear(recorded(3.0, 1.0))
    assert watch.end() > 1000
    assert watch.end() == 0


def test_one_cut_off_word_in_a_long_time_is_no_matter() -> None:
    watch = ClippingWatch(RATE_HZ)
    audio = recorded(0.5)
    audio[1000:1040] = 1.0
    assert watch.hear(audio) == 0
