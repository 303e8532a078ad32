from __future__ import annotations

import numpy as np

from edge_asr.pipeline.front import CLIPPING_EVERY_S, Front

RATE_HZ = 1000
VOICE = (0.5 * np.sin(np.arange(10 * RATE_HZ))).astype(np.float32)


def test_samples_that_are_no_sound_become_silence_and_are_counted() -> None:
    front = Front(RATE_HZ)
    audio = VOICE.copy()
    audio[[20, 30]] = np.nan, np.inf
    cleaned = front.clean(audio)
    (finding,) = front.take_findings()
    assert (finding.code, finding.count) == ("samples_replaced", 2)
    assert np.isfinite(cleaned).all()
    assert not front.take_findings()


def test_an_offset_that_pushes_peaks_beyond_full_scale_costs_no_peak() -> None:
    cleaned = Front(RATE_HZ).clean(VOICE + np.float32(0.8))
    np.testing.assert_allclose(cleaned[5000:], VOICE[5000:], atol=0.01)


def test_clipping_is_said_once_a_minute() -> None:
    front = Front(RATE_HZ)
    cut_off = np.clip(4 * VOICE, -1, 1)
    codes = []
    for _ in range(round(2 * CLIPPING_EVERY_S / 10)):
        front.clean(cut_off)
        codes += [finding.code for finding in front.take_findings()]
    assert codes == ["audio_clipped"] * 2


def test_two_channels_are_only_looked_for_where_one_is_declared() -> None:
    for channels, expected in ((1, ["format_suspicious"]), (2, [])):
        front = Front(RATE_HZ, channels)
        front.clean(np.repeat(VOICE, 2))
        assert [finding.code for finding in front.take_findings()] == expected


def test_what_is_held_back_comes_out_at_the_end() -> None:
    front = Front(RATE_HZ)
    assert not len(front.clean(VOICE[:5]))
    assert front.end().tolist() == VOICE[:5].tolist()
