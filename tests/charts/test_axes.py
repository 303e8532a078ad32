import math

import pytest

from edge_asr.charts.axes import Axis, Scale, counted_axis, linear_axis, log_axis, spread_axis, ticks


def test_a_linear_scale_puts_the_middle_in_the_middle():
    assert Scale(0.0, 10.0, 100.0, 300.0).position(5.0) == 200.0


def test_a_scale_that_points_upwards_puts_larger_values_higher():
    assert Scale(0.0, 10.0, 300.0, 100.0).position(7.5) == 150.0


def test_a_logarithmic_scale_gives_each_factor_the_same_length():
    scale = Scale(1.0, 100.0, 0.0, 200.0, is_log=True)
    assert scale.position(10.0) == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (0.0, 0.13, (0.0, 0.05, 0.1, 0.15)),
        (3.0, 47.0, (0.0, 10.0, 20.0, 30.0, 40.0, 50.0)),
        (-12.0, 9.0, (-15.0, -10.0, -5.0, 0.0, 5.0, 10.0)),
    ],
)
def test_ticks_are_round_and_enclose_the_values(low, high, expected):
    assert ticks(low, high) == expected


def test_a_linear_axis_starts_at_zero_by_default():
    axis = linear_axis("ms", [30.0, 42.0])
    assert (axis.low, axis.high) == (0.0, 50.0)


def test_a_linear_axis_of_equal_values_still_has_a_length():
    axis = linear_axis("MiB", [80.0, 80.0], from_zero=False)
    assert axis.low < 80.0 < axis.high


def test_a_linear_axis_of_zeros_still_has_a_length():
    axis = linear_axis("share", [0.0])
    assert axis.low == 0.0 < axis.high


def test_small_changes_of_a_large_value_do_not_fill_the_axis():
    axis = linear_axis("MiB", [100.0, 101.0], from_zero=False, least_span=10.0)
    assert axis.high - axis.low >= 10.0


def test_a_logarithmic_axis_ends_on_ticks_around_the_values():
    axis = log_axis("ms", [3.0, 900.0])
    assert axis == Axis("ms", 2.0, 1000.0, (2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0), is_log=True)


def test_an_axis_of_counts_has_its_ticks_where_it_was_measured():
    axis = counted_axis("threads", [4, 1, 2, 2])
    assert axis.ticks == (1, 2, 4)
    assert not axis.is_log
    assert axis.low < 1
    assert axis.high > 4


def test_an_axis_of_widely_spread_counts_is_logarithmic():
    assert counted_axis("streams", [1, 2, 64]).is_log


def test_a_far_outlier_makes_a_spread_axis_logarithmic():
    assert spread_axis("ms", [10.0, 11.0, 12.0, 900.0]).is_log
    assert not spread_axis("ms", [10.0, 11.0, 12.0, 90.0]).is_log


def test_a_spread_axis_of_negative_values_stays_linear():
    axis = spread_axis("ms", [-5.0, 1.0, 900.0])
    assert not axis.is_log
    assert math.isfinite(axis.scale(0.0, 1.0).position(-5.0))
