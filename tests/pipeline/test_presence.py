from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.pipeline.presence import SpeechPresence
from edge_asr.workload import Clip, bundled_clips, load_clip

RATE_HZ = 16_000
TIMES = np.arange(4 * RATE_HZ) / RATE_HZ


def hears(audio: npt.NDArray[Any], rate_hz: int = RATE_HZ) -> bool:
    return SpeechPresence(rate_hz).hear(audio.astype(np.float32))


def noise(level_dbfs: float) -> npt.NDArray[np.float64]:
    return np.random.default_rng(1).standard_normal(len(TIMES)) * 10 ** (level_dbfs / 20)


@pytest.mark.parametrize("clip", bundled_clips(), ids=lambda clip: clip.name)
def test_speech_is_heard(clip: Clip) -> None:
    loaded = load_clip(clip)
    assert hears(loaded.samples / 32768, loaded.sample_rate_hz)


@pytest.mark.parametrize("hertz", [50, 440, 1000, 3000])
def test_a_tone_is_no_speech_wherever_it_begins(hertz: float) -> None:
    for begin in range(0, 320, 40):
        assert not hears(np.where(np.arange(len(TIMES)) >= begin, 0.3 * np.sin(2 * np.pi * hertz * TIMES), 0.0))


def test_beeps_and_sirens_are_no_speech() -> None:
    assert not hears(0.1 * np.sin(2 * np.pi * 2000 * TIMES) * (TIMES % 1.0 < 0.3))
    assert not hears(0.1 * np.sin(2 * np.pi * 1000 * TIMES - 400 * np.cos(2 * np.pi * TIMES / 4)))


def test_clicks_are_no_speech() -> None:
    audio = np.zeros(len(TIMES))
    audio[::RATE_HZ] = 1.0
    assert not hears(audio)


def test_faint_noise_is_no_speech_however_it_changes() -> None:
    assert not hears(noise(-60) * (1 + np.sin(2 * np.pi * 5 * TIMES)) / 2)
    assert not hears(noise(-60))


@given(st.lists(st.integers(1, 500), max_size=12))
def test_cuts_make_no_difference(cuts: list[int]) -> None:
    audio = np.concatenate((np.zeros(1600), noise(-30)[:2000] * np.linspace(0, 1, 2000))).astype(np.float32)
    presence, begin, heard = SpeechPresence(RATE_HZ), 0, False
    for cut in (*cuts, len(audio)):
        heard = presence.hear(audio[begin : begin + cut]) or heard
        begin += cut
    assert heard == hears(audio)
