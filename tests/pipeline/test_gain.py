from __future__ import annotations

import numpy as np
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
