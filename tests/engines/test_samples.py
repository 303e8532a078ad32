from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from edge_asr.audio import LOUDEST
from edge_asr.engines.samples import QUIETEST_DBFS, loudest_dbfs, usable, window_levels_dbfs

any_floats = hnp.arrays(np.float32, st.integers(0, 300), elements=st.floats(width=32))


@given(any_floats)
def test_whatever_comes_is_finite_and_in_range(samples):
    made = usable(samples)
    assert made.shape == samples.shape
    assert np.isfinite(made).all()
    assert (np.abs(made) <= 1).all()


@given(hnp.arrays(np.float32, st.integers(0, 300), elements=st.floats(-1, 1, width=32)))
def test_good_samples_are_neither_changed_nor_copied(samples):
    assert usable(samples) is samples


def test_samples_that_are_no_numbers_become_silence_and_too_loud_ones_are_clipped():
    bad = np.array([np.nan, np.inf, -np.inf, 1e30, -2 * LOUDEST, 3.0, -3.0, 0.5], np.float32)
    assert usable(bad).tolist() == [0, 0, 0, 0, 0, 1, -1, 0.5]


def test_other_number_types_are_taken():
    assert usable(np.array([0.5, -0.25])).dtype == np.float32


@pytest.mark.parametrize("shape", [(10, 1), (1, 10), (2, 5), ()])
def test_more_or_fewer_dimensions_are_refused(shape):
    with pytest.raises(ValueError, match="one dimension is expected"):
        usable(np.zeros(shape, np.float32))


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.uint8, np.bool_, np.complex64])
def test_integers_are_refused_since_nobody_has_scaled_them(kind):
    with pytest.raises(ValueError, match=r"floating point in \[-1, 1\] is expected"):
        usable(np.ones(10, kind))


def test_the_level_of_a_full_scale_square_wave_is_zero():
    square = np.tile([1.0, -1.0], 256).astype(np.float32)
    assert window_levels_dbfs(square, 512).tolist() == pytest.approx([0.0])


def test_half_the_amplitude_is_six_decibels_less():
    square = np.tile([0.5, -0.5], 512).astype(np.float32)
    assert window_levels_dbfs(square, 512).tolist() == pytest.approx([-6.02, -6.02], abs=0.01)


def test_a_constant_offset_is_silence():
    assert window_levels_dbfs(np.full(512, 0.6, np.float32), 512)[0] < -90


def test_a_window_that_is_not_full_is_left_out():
    assert len(window_levels_dbfs(np.zeros(1100, np.float32), 512)) == 2


def test_the_loudest_window_counts():
    samples = np.concatenate([np.zeros(1024), np.tile([0.1, -0.1], 256)]).astype(np.float32)
    assert loudest_dbfs(samples, 512) == pytest.approx(-20, abs=0.1)


def test_less_than_a_window_has_a_level_too():
    assert loudest_dbfs(np.tile([0.1, -0.1], 10).astype(np.float32), 512) == pytest.approx(-20, abs=0.1)


def test_nothing_is_as_quiet_as_can_be():
    assert loudest_dbfs(np.zeros(0, np.float32), 512) == QUIETEST_DBFS
