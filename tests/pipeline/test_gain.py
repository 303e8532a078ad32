from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.pipeline.gain import GainGuard

RATE_HZ = 16_000
SOUND = np.sin(np.arange(RATE_HZ)).astype(np.float32)


def test_audio_within_full_scale_passes_as_it_is() -> None:
    assert GainGuard(RATE_HZ).hold(SOUND) is SOUND


def test_a_recording_beyond_full_scale_keeps_its_shape() -> None:
    guard = GainGuard(RATE_HZ)
    guard.hold(15 * SOUND)
    held = guard.hold(15 * SOUND)
    assert np.abs(held).max() <= 1.0
    assert np.corrcoef(held, SOUND)[0, 1] > 0.999


def test_the_gain_comes_back_slowly_and_fully() -> None:
    guard = GainGuard(RATE_HZ)
    guard.hold(2 * SOUND)
    peaks = [float(np.abs(guard.hold(SOUND)).max()) for _ in range(4)]
    assert peaks == sorted(peaks)
    assert peaks[0] < 0.75
    assert peaks[-1] == np.abs(SOUND).max()


@given(st.lists(st.integers(0, 500), max_size=12))
def test_cuts_make_no_difference(cuts: list[int]) -> None:
    audio = np.concatenate((SOUND[:1000], 3 * SOUND[:1000], SOUND[:3000]))
    whole = GainGuard(RATE_HZ).hold(audio)
    guard, pieces, begin = GainGuard(RATE_HZ), [], 0
    for cut in cuts:
        pieces.append(guard.hold(audio[begin : begin + cut]))
        begin += cut
    pieces.append(guard.hold(audio[begin:]))
    np.testing.assert_allclose(np.concatenate(pieces), whole, rtol=1e-6)


@pytest.mark.parametrize("cut", [320, 3_200, 12_800])
def test_another_one_goes_on_where_this_one_was(cut: int) -> None:
    audio = np.tile(np.array([0.5, -0.5, 0.25, 3.0], np.float32), 4_000)
    audio[4_800:] /= 6  # the gain comes back from here on
    first = GainGuard(16_000)
    whole = first.hold(audio)
    second = GainGuard(16_000, cut, first.peak_at(cut))
    np.testing.assert_allclose(second.hold(audio[cut:]), whole[cut:], atol=1e-6)


def test_before_anything_was_loud_full_scale_is_what_it_is() -> None:
    guard = GainGuard(16_000)
    guard.hold(np.zeros(3_200, np.float32))
    guard.hold(np.full(3_200, 2.0, np.float32))
    assert (guard.peak_at(3_000), guard.peak_at(6_400) > 1.9) == (1.0, True)
