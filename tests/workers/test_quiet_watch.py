"""The front hears whether a session is still as quiet as its worker found it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.audio import Float32Array
from edge_asr.engines.samples import window_levels_dbfs
from edge_asr.workers.quiet_watch import QuietWatch

RATE_HZ = 16_000
FRAME = RATE_HZ // 50
QUIET_DBFS = -50.0


def noise(level_dbfs: float, samples: int = RATE_HZ, seed: int = 0) -> Float32Array:
    rms = 10 ** (level_dbfs / 20)
    return (np.random.default_rng(seed).standard_normal(samples) * rms).astype(np.float32)


def s16(samples: Float32Array) -> bytes:
    return (samples * 32768).round().astype("<i2").tobytes()


@pytest.fixture
def watch() -> QuietWatch:
    watch = QuietWatch(RATE_HZ)
    watch.quiet_dbfs = QUIET_DBFS
    return watch


@pytest.mark.parametrize(("level_dbfs", "is_sound"), [(-90, False), (-56, False), (-50, True), (-30, True)])
def test_what_is_well_below_the_limit_is_silence(watch: QuietWatch, level_dbfs: float, is_sound: bool) -> None:
    assert watch.hears_sound(s16(noise(level_dbfs))) is is_sound


def test_digital_silence_is_silence(watch: QuietWatch) -> None:
    assert not watch.hears_sound(bytes(2 * RATE_HZ))


def test_a_constant_offset_is_no_sound(watch: QuietWatch) -> None:
    assert not watch.hears_sound(s16(noise(-70) + np.float32(0.1)))


def test_a_sound_in_silence_is_heard_with_the_end_of_its_frame(watch: QuietWatch) -> None:
    audio = s16(np.concatenate((np.zeros(3 * FRAME, np.float32), noise(-30, FRAME))))
    assert [watch.hears_sound(audio[start : start + FRAME]) for start in range(0, len(audio), FRAME)] == [False] * 7 + [
        True
    ]


def test_where_it_begins_within_a_sample_the_rest_of_that_is_passed_over(watch: QuietWatch) -> None:
    audio = s16(noise(-70))
    watch.begin(1)
    assert not watch.hears_sound(audio[1:])


def test_beginning_anew_forgets_the_frame_that_was_begun(watch: QuietWatch) -> None:
    watch.hears_sound(s16(noise(-20, FRAME - 1)))
    watch.begin(0)
    assert not watch.hears_sound(s16(np.zeros(FRAME, np.float32)))


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=20), st.floats(-70, -40), st.integers(0, 99))
def test_pieces_do_not_matter(sizes: list[int], level_dbfs: float, seed: int) -> None:
    audio = s16(noise(level_dbfs, RATE_HZ // 2, seed))
    ends = [end for end in itertools.accumulate(sizes) if end < len(audio)]
    whole, cut = QuietWatch(RATE_HZ), QuietWatch(RATE_HZ)
    whole.quiet_dbfs = cut.quiet_dbfs = -55.0
    pieces = [audio[start:end] for start, end in itertools.pairwise([0, *ends, len(audio)])]
    assert any(cut.hears_sound(piece) for piece in pieces) == whole.hears_sound(audio)


@given(st.integers(0, FRAME - 1), st.floats(-48, -20), st.integers(0, 99))
def test_what_opens_the_gate_is_heard_wherever_its_frame_begins(offset: int, level_dbfs: float, seed: int) -> None:
    sound = noise(level_dbfs, FRAME, seed)
    if window_levels_dbfs(sound, FRAME)[0] <= QUIET_DBFS:
        return
    silence = np.zeros(FRAME, np.float32)
    watch = QuietWatch(RATE_HZ)
    watch.quiet_dbfs = QUIET_DBFS
    assert watch.hears_sound(s16(np.concatenate((silence[:offset], sound, silence, silence[offset:]))))
