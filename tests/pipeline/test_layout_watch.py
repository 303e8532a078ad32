from __future__ import annotations

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.pipeline.layout_watch import WINDOWS, Layout, LayoutWatch, layout_of

RATE_HZ = 16_000


def a_voice(seconds: float = 8.0) -> Float32Array:
    """Noise with the spectrum of speech, in syllables."""
    random = np.random.default_rng(3)
    noise = np.convolve(random.standard_normal(round(seconds * RATE_HZ)), 0.9 ** np.arange(60), mode="same")
    syllables = 0.5 + 0.5 * np.sin(2 * np.pi * 4 * np.arange(len(noise)) / RATE_HZ)
    return (0.03 * noise * syllables).astype(np.float32)


def first_suspicion(audio: Float32Array, piece: int = 1600) -> Layout:
    watch = LayoutWatch(RATE_HZ)
    found = [watch.hear(audio[begin : begin + piece]) for begin in range(0, len(audio), piece)]
    suspicions = [each for each in found if each != "as_declared"]
    assert len(suspicions) <= 1, "a suspicion is said once"
    return suspicions[0] if suspicions else "as_declared"


def test_speech_is_as_declared() -> None:
    assert first_suspicion(a_voice()) == "as_declared"


@pytest.mark.parametrize("shift", [0, 1])
def test_two_channels_of_the_same_are_found(shift: int) -> None:
    assert first_suspicion(np.repeat(a_voice(), 2)[shift:]) == "two_channels"


def test_two_channels_of_which_one_is_silent_are_found() -> None:
    voice = a_voice()
    assert first_suspicion(np.column_stack((voice, np.zeros_like(voice))).ravel()) == "two_channels"


def test_floats_that_are_read_as_integers_are_noise() -> None:
    wrong = np.asarray(np.frombuffer(a_voice().tobytes(), "<i2") / 32768, np.float32)
    assert first_suspicion(wrong) == "noise"


def test_bytes_that_are_read_from_their_middle_are_noise() -> None:
    data = (a_voice() * 32767).astype("<i2").tobytes()[1:-1]
    assert first_suspicion(np.asarray(np.frombuffer(data, "<i2") / 32768, np.float32)) == "noise"


def test_a_tone_with_every_other_sample_at_zero_is_no_channel() -> None:
    tone = 0.1 * np.sin(2 * np.pi * RATE_HZ / 4 * np.arange(8 * RATE_HZ) / RATE_HZ)
    assert first_suspicion(tone.astype(np.float32)) == "as_declared"


def test_quiet_audio_says_nothing() -> None:
    assert layout_of(np.repeat(a_voice(1.0) * 0.01, 2)) is None


def test_nothing_is_said_before_enough_of_it_was_heard() -> None:
    assert first_suspicion(np.repeat(a_voice(), 2)[: WINDOWS * RATE_HZ - 1]) == "as_declared"
