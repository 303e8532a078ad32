"""Levels, direct current, and signals that no microphone delivers."""

from __future__ import annotations

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.sources.loudness import DirectCurrent, SignalWatch, level_of
from tests.sources.conftest import tone

RATE_HZ = 16_000


def constant(value: float, seconds: float = 0.1) -> Float32Array:
    return np.full(round(seconds * RATE_HZ), value, np.float32)


def test_a_tone_at_half_of_full_scale() -> None:
    level = level_of(tone(1.0))
    assert level.peak_dbfs == pytest.approx(-6.02, abs=0.01)
    assert level.rms_dbfs == pytest.approx(-9.03, abs=0.01)
    assert level.offset == pytest.approx(0, abs=1e-4)
    assert level.clipped == 0


def test_silence_has_no_level() -> None:
    level = level_of(constant(0))
    assert (level.peak_dbfs, level.rms_dbfs) == (None, None)


def test_cut_off_samples_are_counted() -> None:
    samples = np.array([0.5, 1.0, -1.0, 0.2], np.float32)
    assert level_of(samples).clipped == 0.5


def test_direct_current_is_removed_from_the_first_block_on_and_the_tone_stays() -> None:
    dc = DirectCurrent(RATE_HZ)
    blocks = np.array_split(tone(2.0, amplitude=0.2) + np.float32(0.6), 20)
    cleaned = np.concatenate([dc.remove(block.astype(np.float32)) for block in blocks])
    assert len(cleaned) == 2 * RATE_HZ
    assert abs(float(cleaned.mean())) < 0.002
    assert float(np.abs(cleaned).max()) == pytest.approx(0.2, abs=0.01)


def test_removing_direct_current_leaves_no_steps() -> None:
    dc = DirectCurrent(RATE_HZ)
    cleaned = np.concatenate([dc.remove(constant(value)) for value in (0.1, 0.12, 0.14, 0.16)])
    inside = np.abs(np.diff(cleaned))
    assert float(np.delete(inside, [1599, 3199, 4799]).max()) < 1e-4
    # Only the steps of the signal itself are left.
    assert np.allclose(inside[[1599, 3199, 4799]], 0.02, atol=1e-3)


def test_sound_is_sound() -> None:
    watch = SignalWatch(RATE_HZ)
    assert {watch.observe(block) for block in np.array_split(tone(10.0), 100)} == {"sound"}


def test_zeros_for_a_while_are_silence_until_there_is_sound() -> None:
    watch = SignalWatch(RATE_HZ)
    verdicts = [watch.observe(constant(0)) for _ in range(60)]
    assert verdicts == ["sound"] * 49 + ["silent"] * 11
    assert watch.observe(tone(0.1)) == "sound"


def test_one_other_value_for_a_while_is_a_stuck_driver() -> None:
    watch = SignalWatch(RATE_HZ)
    assert [watch.observe(constant(0.25)) for _ in range(21)] == ["sound"] * 19 + ["stuck"] * 2


def test_a_run_of_one_value_begins_anew_with_another() -> None:
    watch = SignalWatch(RATE_HZ)
    blocks = [constant(0.25) for _ in range(15)] + [constant(0.5) for _ in range(15)]
    assert {watch.observe(block) for block in blocks} == {"sound"}
