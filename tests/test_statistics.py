"""Percentiles, pooled ratios, paired changes and trends: their values, and how often their intervals are right."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_asr import statistics
from edge_asr.distributions import normal_quantile
from edge_asr.statistics import (
    Block,
    Interval,
    PairedChange,
    Percentile,
    TooFew,
    Trend,
    linear_trend,
    median,
    paired_change,
    paired_percentile_change,
    percentile,
    pooled_ratio,
    samples_needed,
)

SIMULATIONS = 2_000
MILLISECONDS = st.floats(0, 1e5)

untimed = settings(deadline=None)


def blocks(numerators: Sequence[float], denominators: Sequence[float], repetition: int = 0) -> list[Block]:
    pairs = zip(numerators, denominators, strict=True)
    return [Block(repetition, f"u{index}", *pair) for index, pair in enumerate(pairs)]


def changed(before: Sequence[float], after: Sequence[float], *, is_valid: bool = True) -> PairedChange:
    seconds = [10.0] * len(before)
    change = paired_change(blocks(before, seconds), blocks(after, seconds), is_valid=is_valid)
    assert isinstance(change, PairedChange)
    return change


def found(samples: Sequence[float], percent: float) -> Percentile:
    result = percentile(samples, percent)
    assert isinstance(result, Percentile)
    return result


def fitted(times_s: Sequence[float], values: Sequence[float]) -> Trend:
    trend = linear_trend(times_s, values)
    assert isinstance(trend, Trend)
    return trend


# Percentiles.


@pytest.mark.parametrize(("percent", "needed"), [(90, 64), (99, 662)])
def test_the_floors_are_those_of_mlperf(percent: float, needed: int) -> None:
    assert samples_needed(percent) == needed


@pytest.mark.parametrize(("percent", "needed"), [(90, 64), (99, 662)])
def test_a_percentile_of_too_small_a_sample_is_not_a_number(percent: float, needed: int) -> None:
    assert percentile([1.0] * (needed - 1), percent) == TooFew(needed, needed - 1)
    assert isinstance(percentile([1.0] * needed, percent), Percentile)


def test_too_few_says_how_many_are_needed() -> None:
    assert str(percentile([1.0, 2.0], 90)) == "n too small (2, 64 needed)"


@pytest.mark.parametrize(("percent", "rank"), [(50, 1000), (90, 1800), (7, 140), (7.51, 151), (95, 1900)])
def test_the_percentile_is_the_nearest_rank(percent: float, rank: int) -> None:
    assert found(range(1, 2001), percent).value == rank


def test_the_interval_of_a_median_of_twenty_is_that_of_the_table() -> None:
    assert found(range(1, 21), 50).interval == Interval(6, 15)


@untimed
@given(st.lists(MILLISECONDS, min_size=64, max_size=200))
def test_a_percentile_is_one_of_the_samples_and_inside_its_interval(samples: list[float]) -> None:
    p90 = found(samples, 90)
    assert p90.value in samples
    assert not p90.interval.excludes(p90.value)
    assert sum(sample <= p90.value for sample in samples) >= 0.9 * len(samples)


@untimed
@given(st.lists(MILLISECONDS, min_size=64, max_size=100), st.permutations(range(100)))
def test_the_order_of_the_samples_does_not_matter(samples: list[float], order: list[int]) -> None:
    shuffled = [samples[index] for index in order if index < len(samples)]
    assert percentile(samples, 90) == percentile(shuffled, 90)


@pytest.mark.parametrize("percent", [0, 100, -1, 101])
def test_what_is_no_percentile_is_refused(percent: float) -> None:
    with pytest.raises(ValueError, match="is not between 0 and 100"):
        percentile([1.0], percent)


def test_a_measurement_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        percentile([1.0, math.nan], 50)


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two() -> None:
    assert median([4, 1, 3, 2]) == 2.5
    with pytest.raises(ValueError, match="no samples"):
        median([])


@pytest.mark.parametrize(("percent", "count"), [(50, 100), (90, 64), (90, 200), (95, 200)])
def test_the_interval_of_a_percentile_covers_the_true_one_95_times_in_100(percent: int, count: int) -> None:
    generator = np.random.default_rng(percent * count)
    truth = math.exp(normal_quantile(percent / 100))
    covered = [
        not found(np.exp(generator.standard_normal(count)), percent).interval.excludes(truth)  # type: ignore[arg-type]
        for _ in range(SIMULATIONS)
    ]
    assert 0.93 <= np.mean(covered) <= 0.975  # order statistics are discrete: never below 95 %, a little above


# Pooled ratios.


def test_a_pooled_ratio_is_the_ratio_of_the_sums() -> None:
    ratio = pooled_ratio(blocks([1, 3], [10, 10]))
    assert ratio.value == 0.2
    assert ratio.blocks == 2


def test_equal_ratios_in_every_block_have_an_interval_of_one_point() -> None:
    assert pooled_ratio(blocks([0.5, 1, 2], [1, 2, 4])).interval == Interval(0.5, 0.5)


def test_one_block_has_no_interval() -> None:
    assert pooled_ratio(blocks([1], [4])).interval is None


def test_blocks_of_the_same_key_are_added_up() -> None:
    assert pooled_ratio([Block(0, "a", 1, 2), Block(0, "a", 2, 2), Block(1, "a", 1, 4)]).blocks == 2


def test_the_same_seed_gives_the_same_interval_in_any_order() -> None:
    some = blocks(list(range(20)), list(range(20, 40)))
    assert pooled_ratio(some, seed=7) == pooled_ratio(reversed(some), seed=7)
    assert pooled_ratio(some, seed=7) != pooled_ratio(some, seed=8)


def test_silent_utterances_count_their_errors() -> None:
    ratio = pooled_ratio(blocks([1, 1, 0], [0, 10, 10]))
    assert ratio.value == 0.1
    assert ratio.interval is not None
    assert ratio.interval.high > 0.1


@pytest.mark.parametrize(
    ("numerator", "denominator"), [(1.0, 0.0), (math.inf, 1.0), (1.0, -1.0), (math.nan, 1.0), (1.0, math.nan)]
)
def test_what_is_no_ratio_is_refused(numerator: float, denominator: float) -> None:
    with pytest.raises(ValueError, match="ratio"):
        pooled_ratio([Block(0, "a", numerator, denominator)])


@untimed
@given(
    st.lists(st.tuples(st.floats(0, 10), st.floats(0.1, 10)), min_size=2, max_size=12),
    st.floats(0.1, 10),
)
def test_a_ratio_lies_between_the_ratios_of_its_blocks_and_scales(
    pairs: list[tuple[float, float]], factor: float
) -> None:
    numerators, denominators = zip(*pairs, strict=True)
    ratio = pooled_ratio(blocks(numerators, denominators))
    each = [numerator / denominator for numerator, denominator in pairs]
    assert ratio.interval is not None
    assert min(each) - 1e-9 <= ratio.interval.low <= ratio.interval.high <= max(each) + 1e-9
    scaled = pooled_ratio(blocks([number * factor for number in numerators], denominators))
    assert scaled.value == pytest.approx(ratio.value * factor)


@pytest.mark.parametrize("count", [10, 40])
def test_the_interval_of_a_ratio_covers_the_true_one_95_times_in_100(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(statistics, "RESAMPLES", 1_000)
    generator = np.random.default_rng(count)
    covered = []
    for seed in range(SIMULATIONS):
        audio_s = generator.uniform(2, 10, count)
        wall_s = 0.3 * audio_s * generator.uniform(0.5, 1.5, count)
        interval = pooled_ratio(blocks(wall_s.tolist(), audio_s.tolist()), seed).interval
        assert interval is not None
        covered.append(not interval.excludes(0.3))
    assert 0.93 <= np.mean(covered) <= 0.97


# Paired changes.


def test_a_consistent_loss_is_higher() -> None:
    change = changed([1, 2, 3, 4], [1.2, 2.3, 3.4, 4.6])
    assert change.verdict == "higher"
    assert change.difference == pytest.approx(0.0375)
    assert change.ratio == pytest.approx(1.15)
    assert change.ratio_interval is not None
    assert change.ratio_interval.low > 1.1


def test_a_consistent_gain_is_lower() -> None:
    assert changed([1.2, 2.3, 3.4], [1, 2, 3]).verdict == "lower"


def test_what_goes_both_ways_is_no_difference_found() -> None:
    assert changed([1, 2, 3, 4], [1.1, 1.9, 3.1, 3.9]).verdict == "no_difference_found"


def test_a_disturbed_run_gets_no_verdict_but_its_figures() -> None:
    change = changed([1, 2, 3, 4], [10, 20, 30, 40], is_valid=False)
    assert change.verdict == "invalid"
    assert change.ratio == 10


def test_only_shared_blocks_are_compared() -> None:
    before = [*blocks([1, 2], [10, 10]), Block(0, "only-before", 99, 1)]
    after = [*blocks([1, 2], [10, 10]), Block(0, "only-after", 99, 1)]
    change = paired_change(before, after)
    assert isinstance(change, PairedChange)
    assert (change.blocks, change.difference) == (2, 0)


def test_fewer_than_two_shared_blocks_are_too_few() -> None:
    assert paired_change(blocks([1], [1]), blocks([1, 2], [1, 1])) == TooFew(2, 1)


def test_there_is_no_ratio_to_nothing() -> None:
    change = changed([0, 0, 0], [1, 1, 1])
    assert (change.ratio, change.ratio_interval, change.verdict) == (None, None, "higher")


@untimed
@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), min_size=2, max_size=12))
def test_exchanging_the_sides_turns_the_sign(pairs: list[tuple[float, float]]) -> None:
    before, after = zip(*pairs, strict=True)
    there, back = changed(before, after), changed(after, before)
    assert there.difference == -back.difference
    assert there.difference_interval.low == pytest.approx(-back.difference_interval.high, abs=1e-9)
    opposite = {"lower": "higher", "higher": "lower"}
    assert opposite.get(there.verdict, there.verdict) == back.verdict


def test_equal_runs_are_told_apart_5_times_in_100(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "RESAMPLES", 1_000)
    generator = np.random.default_rng(5)
    audio_s = [10.0] * 25
    verdicts = []
    for seed in range(SIMULATIONS):
        hardness = generator.uniform(1, 5, 25)
        before, after = (hardness * generator.uniform(0.8, 1.2, 25) for _ in range(2))
        change = paired_change(blocks(before.tolist(), audio_s), blocks(after.tolist(), audio_s), seed=seed)
        assert isinstance(change, PairedChange)
        verdicts.append(change.verdict)
    assert 0.93 <= verdicts.count("no_difference_found") / SIMULATIONS <= 0.97


# Paired percentiles.


def repetitions(generator: np.random.Generator, median_ms: float, samples: int = 30) -> dict[int, list[float]]:
    return {
        number: (median_ms * generator.uniform(0.97, 1.03) * generator.uniform(0.8, 1.2, samples)).tolist()
        for number in range(5)
    }


def test_a_percentile_that_grew_is_higher() -> None:
    generator = np.random.default_rng(1)
    change = paired_percentile_change(repetitions(generator, 50), repetitions(generator, 75), 90)
    assert isinstance(change, PairedChange)
    assert (change.verdict, change.blocks) == ("higher", 5)
    assert change.ratio == pytest.approx(1.5, abs=0.05)


def test_the_percentiles_of_a_change_are_those_of_all_samples() -> None:
    before = {0: list(range(1, 11)), 1: list(range(11, 21))}
    change = paired_percentile_change(before, {0: [5.0] * 10, 1: [5.0] * 10}, 50)
    assert isinstance(change, PairedChange)
    assert (change.before, change.after) == (found(range(1, 21), 50).value, 5)
    assert change.difference_interval == Interval(5 - 15, 5 - 5)  # the median of the second, or of the first, alone


def test_a_percentile_changes_only_between_large_enough_samples() -> None:
    few = {0: [1.0] * 20, 1: [1.0] * 20}
    assert paired_percentile_change(few, few, 90) == TooFew(64, 40)
    assert paired_percentile_change({0: [1.0] * 100}, {0: [1.0] * 100}, 90) == TooFew(2, 1)
    assert paired_percentile_change({0: [1.0], 1: []}, {0: [1.0], 1: [1.0]}, 50) == TooFew(2, 1)


def test_equal_percentiles_are_told_apart_about_5_times_in_100(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "RESAMPLES", 1_000)
    generator = np.random.default_rng(6)
    verdicts = []
    for seed in range(SIMULATIONS // 4):
        change = paired_percentile_change(repetitions(generator, 50), repetitions(generator, 50), 90, seed=seed)
        assert isinstance(change, PairedChange)
        verdicts.append(change.verdict)
    share = verdicts.count("no_difference_found") / len(verdicts)
    assert 0.90 <= share <= 0.98  # five blocks are few even for an expanded interval


# Trends.


def test_a_straight_line_has_its_slope_per_hour() -> None:
    times_s = np.arange(0, 7200, 10.0)
    trend = fitted(times_s.tolist(), (5 + 2 * times_s / 3600).tolist())
    assert trend.per_hour == pytest.approx(2)
    assert trend.has_drift


def test_a_constant_does_not_drift() -> None:
    trend = fitted(list(range(100)), [3.0] * 100)
    assert (trend.per_hour, trend.interval, trend.has_drift, trend.warm_up_s) == (0, Interval(0, 0), False, 0)


def test_the_warm_up_is_no_drift() -> None:
    times_s = np.arange(0, 7200, 2.0)
    noise = np.random.default_rng(1).standard_normal(len(times_s))
    trend = fitted(times_s.tolist(), (100 - 60 * np.exp(-times_s / 300) + noise).tolist())
    assert trend.warm_up_s > 600
    assert not trend.has_drift


def test_readings_far_off_do_not_make_a_drift() -> None:
    values = np.random.default_rng(2).standard_normal(640)
    values[600:606] = 1e6
    assert not fitted(list(range(640)), values.tolist()).has_drift


def test_a_series_of_few_readings_has_no_trend() -> None:
    assert linear_trend([0, 1, 2], [1, 2, 3]) == TooFew(8, 3)
    assert linear_trend([], []) == TooFew(8, 0)
    assert linear_trend([5.0] * 100, list(range(100))) == TooFew(8, 1)


def test_what_is_no_series_is_refused() -> None:
    with pytest.raises(ValueError, match="2 moments and 1 readings"):
        linear_trend([0, 1], [1])
    with pytest.raises(ValueError, match="must not decrease"):
        linear_trend([1, 0], [1, 1])


@untimed
@given(st.lists(st.floats(-100, 100), min_size=8, max_size=60), st.floats(-100, 100), st.floats(-10, 10))
def test_a_trend_follows_what_is_added(values: list[float], offset: float, per_hour: float) -> None:
    hours = np.arange(len(values))
    plain = fitted((hours * 3600).tolist(), values)
    shifted = fitted((hours * 3600).tolist(), [value + offset for value in values])
    assert shifted.per_hour == pytest.approx(plain.per_hour, abs=1e-6)
    line = fitted((hours * 3600).tolist(), (offset + per_hour * hours).tolist())
    assert line.per_hour == pytest.approx(per_hour, abs=1e-6)


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_the_interval_of_a_trend_covers_the_true_one_95_times_in_100(correlation: float) -> None:
    generator = np.random.default_rng(11)
    times_s = np.arange(0, 7200, 8.0)
    covered = []
    for noise in generator.standard_normal((SIMULATIONS, len(times_s))):
        for index in range(1, len(noise)):
            noise[index] += correlation * noise[index - 1]
        trend = linear_trend(times_s, 100 + 3 * times_s / 3600 + noise)
        assert isinstance(trend, Trend)
        covered.append(not trend.interval.excludes(3))
    assert 0.93 <= np.mean(covered) <= 0.97
