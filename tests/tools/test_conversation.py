"""Conversations are as they are said to be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tools.conversation import LONGEST_PAUSE_S, RATE_HZ, SHORTEST_PAUSE_S, Spoken, compose, pink_noise


def recordings(*lengths_s: float) -> list[Spoken]:
    return [
        Spoken(f"r{number}", f"words {number}", np.full(round(length_s * RATE_HZ), 0.2, np.float32), length_s)
        for number, length_s in enumerate(lengths_s)
    ]


def test_turns_take_their_share_of_the_time_and_pauses_keep_their_bounds() -> None:
    made = compose(recordings(1.0, 2.5, 4.0), 300.0, seed=1)
    gaps = [later.start_s - sooner.end_s for sooner, later in itertools.pairwise(made.utterances)]
    pauses = [gap for gap in gaps if gap > 1.0]
    assert made.share == pytest.approx(0.4, abs=0.03)
    assert min(pauses) >= SHORTEST_PAUSE_S
    assert max(pauses) <= LONGEST_PAUSE_S + 0.001
    assert made.audio_s >= 300.0


def test_recordings_come_in_order_from_the_first_one_asked_for() -> None:
    made = compose(recordings(1.0, 1.0, 1.0), 30.0, seed=1, first=2)
    assert [utterance.name for utterance in made.utterances[:4]] == ["r2", "r0", "r1", "r2"]
    first = made.utterances[0]
    inside = made.samples[round(first.start_s * RATE_HZ) : round(first.end_s * RATE_HZ)]
    assert inside.mean() == pytest.approx(0.2, abs=0.001)


def test_the_same_seed_makes_the_same_conversation() -> None:
    one, again, other = (compose(recordings(1.0, 2.0), 20.0, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.samples, again.samples)
    assert one.utterances == again.utterances != other.utterances


def test_noise_lies_so_much_below_the_speech() -> None:
    made = compose(recordings(2.0), 20.0, seed=1, snr_db=15)
    before = made.samples[: round(made.utterances[0].start_s * RATE_HZ)]
    assert 20 * np.log10(0.2 / before.std()) == pytest.approx(15, abs=1)


def test_pink_noise_has_level_one_and_more_low_than_high() -> None:
    noise = pink_noise(64_000, 0)
    spectrum = np.abs(np.fft.rfft(noise)) ** 2
    frequencies = np.fft.rfftfreq(len(noise), 1 / RATE_HZ)
    octaves = [spectrum[(frequencies >= low) & (frequencies < 2 * low)].mean() for low in (500, 1000, 2000)]
    assert noise.std() == pytest.approx(1, abs=0.001)
    assert octaves[0] / octaves[1] == pytest.approx(2, rel=0.2)
    assert octaves[1] / octaves[2] == pytest.approx(2, rel=0.2)
