"""How certain figures are: percentiles, pooled ratios, paired changes and trends, with 95 % intervals.

Pure: numbers in, numbers out. Whatever draws at random draws from a seed, so that the same measurements always give
the same interval. Where there are too few samples the answer says so and is no number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from edge_asr.distributions import binomial_cdf, normal_cdf, normal_quantile, student_quantile

Float64Array = npt.NDArray[np.float64]

CONFIDENCE = 0.95
"""Of every interval."""

RESAMPLES = 10_000
"""Drawn for a bootstrap: enough that the end of a 95 % interval of five blocks is not a single draw."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the true value lies, with 95 % confidence; in the unit of the figure."""

    low: float
    high: float

    def excludes(self, value: float) -> bool:
        """Whether the value lies outside."""
        return not self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class TooFew:
    """Instead of a figure: the sample is too small to give one."""

    needed: int
    """Samples, blocks or windows that would be enough."""
    found: int

    def __str__(self) -> str:
        return f"n too small ({self.found}, {self.needed} needed)"


# Percentiles.


@dataclass(frozen=True, slots=True)
class Percentile:
    """A value that this share of the samples does not exceed."""

    percent: float
    """90 for p90."""
    value: float
    """One of the samples, in their unit."""
    interval: Interval
    samples: int


def percentile(samples: Sequence[float] | Float64Array, percent: float) -> Percentile | TooFew:
    """Nearest-rank percentile with a distribution-free interval between two order statistics.

    The value is sample number ceil(p n) in order of size (Hyndman & Fan 1996, definition 1). The interval comes from
    the binomial distribution of the number of samples below the true percentile (David & Nagaraja 2003, Order
    Statistics, 7.1); it assumes that the samples are independent and holds for any distribution.

    Args:
        samples: In any unit and order.
        percent: Between 0 and 100, both excluded.

    Raises:
        ValueError: A sample is not finite, or the percentile is none.
    """
    share = _share_of(percent)
    ordered = np.sort(_finite(samples))
    needed = samples_needed(percent)
    if len(ordered) < needed:
        return TooFew(needed, len(ordered))
    below = binomial_cdf(len(ordered), share)
    tail = (1 - CONFIDENCE) / 2
    low_rank = int(np.searchsorted(below, tail, side="right"))
    high_rank = int(np.searchsorted(below, 1 - tail)) + 1
    # Rank 0 and rank n + 1 do not exist; samples_needed keeps both away.
    interval = Interval(float(ordered[low_rank - 1]), float(ordered[high_rank - 1]))
    return Percentile(percent, float(ordered[_nearest_rank(share, len(ordered)) - 1]), interval, len(ordered))


def samples_needed(percent: float) -> int:
    """Samples before a percentile may be printed: 64 for p90, 662 for p99.

    The smallest n for which fewer than two samples lie beyond the true percentile with at most 1 % probability (MLPerf
    inference rules, early stopping for the single-stream scenario at 99 % confidence).

    Raises:
        ValueError: The percentile is none.
    """
    beyond = min(_share_of(percent), 1 - _share_of(percent))
    count = 2
    while (1 - beyond) ** (count - 1) * (1 - beyond + count * beyond) > 0.01:
        count += 1
    return count


def median(samples: Sequence[float] | Float64Array) -> float:
    """The middle sample, or the mean of the middle two: a summary of the repetitions at hand, without a claim.

    Raises:
        ValueError: There is no sample, or one is not finite.
    """
    values = _finite(samples)
    if not len(values):
        raise ValueError("the median of no samples does not exist")
    return float(np.median(values))


def _share_of(percent: float) -> float:
    if not 0 < percent < 100:
        raise ValueError(f"percentile {percent} is not between 0 and 100")
    return percent / 100


def _nearest_rank(share: float, count: int) -> int:
    # 0.07 * 100 is a little more than 7 in binary; the rank meant is 7.
    return max(1, math.ceil(share * count - 1e-9))


# Pooled ratios and their changes, over blocks.


@dataclass(frozen=True, slots=True)
class Block:
    """What one utterance contributed in one repetition; blocks are taken to be independent of each other.

    Blocks of the same key are added up. A figure that repeats itself exactly (the word errors of a deterministic
    model) belongs under one repetition number, or its interval would shrink with every repetition.
    """

    repetition: int
    utterance: str
    numerator: float
    """Processing seconds, word errors…"""
    denominator: float
    """Audio seconds, reference words…; not negative."""

    @property
    def key(self) -> tuple[int, str]:
        """By which blocks of two runs are paired."""
        return self.repetition, self.utterance


@dataclass(frozen=True, slots=True)
class Ratio:
    """A pooled ratio: sum of the numerators over sum of the denominators, never a mean of ratios."""

    value: float
    interval: Interval | None
    """``None`` with a single block."""
    blocks: int


def pooled_ratio(blocks: Iterable[Block], seed: int = 0) -> Ratio:
    """RTF, word error rate and the like, with a bootstrap interval over blocks.

    Bisani & Ney 2004 (bootstrap of the pooled error rate), with the percentiles moved outwards so that few blocks do
    not make the interval too narrow (expanded percentile interval, Hesterberg 2015).

    Raises:
        ValueError: The denominators sum to nothing, or a number is not finite or a denominator negative.
    """
    sums = _sums_by_key(blocks)
    table = np.array([sums[key] for key in sorted(sums)], dtype=np.float64).reshape(-1, 2)
    totals = _totals(table, "the blocks")
    value = float(totals[0] / totals[1])
    if len(table) < 2:
        return Ratio(value, None, len(table))
    drawn = _resampled(table, seed)
    return Ratio(value, _expanded_percentiles(drawn[:, 0] / drawn[:, 1], len(table)), len(table))


Verdict = Literal["lower", "higher", "no_difference_found", "invalid"]
"""What may be said of a change; ``invalid`` whatever the numbers, when a run was disturbed."""


@dataclass(frozen=True, slots=True)
class PairedChange:
    """How a figure differs between two sets of runs over the blocks that both have."""

    before: float
    after: float
    difference: float
    """after - before."""
    difference_interval: Interval
    ratio: float | None
    """after / before; ``None`` where the latter is zero."""
    ratio_interval: Interval | None
    """``None`` where some resamples have nothing to divide by."""
    blocks: int
    """Shared ones."""
    verdict: Verdict
    """``lower`` and ``higher`` only where the interval of the difference excludes zero."""


def paired_change(
    before: Iterable[Block], after: Iterable[Block], *, is_valid: bool = True, seed: int = 0
) -> PairedChange | TooFew:
    """Compare two measurements of the same utterances.

    Both sides are resampled together, block by block, so that what makes an utterance easy or hard cancels (paired
    bootstrap of the difference, Bisani & Ney 2004; expanded percentiles as in :func:`pooled_ratio`).

    Args:
        before: The reference.
        after: What is compared with it.
        is_valid: Whether no run on either side was disturbed.
        seed: Of the resampling.

    Raises:
        ValueError: As for :func:`pooled_ratio`.
    """
    first, second = _sums_by_key(before), _sums_by_key(after)
    shared = sorted(first.keys() & second.keys())
    if len(shared) < 2:
        return TooFew(2, len(shared))
    table = np.array([(*first[key], *second[key]) for key in shared], dtype=np.float64)
    totals = np.concatenate((_totals(table[:, :2], "the reference"), _totals(table[:, 2:], "the other side")))
    drawn = _resampled(table, seed)
    return _change(
        (float(totals[0] / totals[1]), float(totals[2] / totals[3])),
        (drawn[:, 0] / drawn[:, 1], drawn[:, 2] / drawn[:, 3]),
        blocks=len(shared),
        is_valid=is_valid,
    )


def paired_percentile_change(
    before: Mapping[int, Sequence[float]],
    after: Mapping[int, Sequence[float]],
    percent: float,
    *,
    is_valid: bool = True,
    seed: int = 0,
) -> PairedChange | TooFew:
    """Compare a percentile of two measurements; whole repetitions are resampled, on both sides together.

    The samples of one repetition depend on each other (one process, one warm-up, one state of the machine), so that
    the repetitions are the blocks; otherwise as :func:`paired_change`.

    Args:
        before: The reference: repetition to its samples.
        after: What is compared with it.
        percent: Between 0 and 100, both excluded.
        is_valid: Whether no run on either side was disturbed.
        seed: Of the resampling.

    Raises:
        ValueError: A sample is not finite, or the percentile is none.
    """
    shared = sorted(key for key in before.keys() & after.keys() if len(before[key]) and len(after[key]))
    if len(shared) < 2:
        return TooFew(2, len(shared))
    sides = [[_finite(side[key]) for key in shared] for side in (before, after)]
    fewest = min(sum(map(len, side)) for side in sides)
    if fewest < samples_needed(percent):
        return TooFew(samples_needed(percent), fewest)
    whole = np.ones((1, len(shared)), dtype=np.int64)
    chances = np.full(len(shared), 1 / len(shared))
    counts = np.random.default_rng(seed).multinomial(len(shared), chances, size=RESAMPLES)
    share = _share_of(percent)
    old, new = (float(_weighted_percentiles(side, whole, share)[0]) for side in sides)
    drawn_old, drawn_new = (_weighted_percentiles(side, counts, share) for side in sides)
    return _change((old, new), (drawn_old, drawn_new), blocks=len(shared), is_valid=is_valid)


def _weighted_percentiles(blocks: Sequence[Float64Array], counts: npt.NDArray[np.int64], share: float) -> Float64Array:
    """Nearest-rank percentile with each block taken so many times: shapes (draws, blocks) -> (draws,)."""
    samples = np.concatenate(blocks)
    order = np.argsort(samples)
    owner = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])[order]
    # Few blocks can be drawn in few ways: five in 126.
    distinct, which = np.unique(counts, axis=0, return_inverse=True)
    values = np.empty(len(distinct))
    for index, taken in enumerate(distinct):
        rank = np.cumsum(taken[owner])
        values[index] = samples[order[np.searchsorted(rank, _nearest_rank(share, int(rank[-1])))]]
    return values[which.reshape(-1)]


def _change(
    values: tuple[float, float], drawn: tuple[Float64Array, Float64Array], *, blocks: int, is_valid: bool
) -> PairedChange:
    (old, new), (drawn_old, drawn_new) = values, drawn
    difference = _expanded_percentiles(drawn_new - drawn_old, blocks)
    has_ratio = bool(np.all(drawn_old != 0))
    return PairedChange(
        before=old,
        after=new,
        difference=new - old,
        difference_interval=difference,
        ratio=new / old if old else None,
        ratio_interval=_expanded_percentiles(drawn_new / drawn_old, blocks) if has_ratio else None,
        blocks=blocks,
        verdict=_verdict(difference, is_valid=is_valid),
    )


def _verdict(difference: Interval, *, is_valid: bool) -> Verdict:
    if not is_valid:
        return "invalid"
    if not difference.excludes(0):
        return "no_difference_found"
    return "higher" if difference.low > 0 else "lower"


def _sums_by_key(blocks: Iterable[Block]) -> Mapping[tuple[int, str], tuple[float, float]]:
    sums: dict[tuple[int, str], tuple[float, float]] = {}
    for block in blocks:
        if not (math.isfinite(block.numerator) and math.isfinite(block.denominator) and block.denominator >= 0):
            raise ValueError(f"block {block.key}: {block.numerator} / {block.denominator} is not a ratio to pool")
        numerator, denominator = sums.get(block.key, (0.0, 0.0))
        sums[block.key] = (numerator + block.numerator, denominator + block.denominator)
    return sums


def _totals(table: Float64Array, whose: str) -> Float64Array:
    totals: Float64Array = table.sum(axis=0)
    if not totals[1] > 0:
        raise ValueError(f"the denominators of {whose} sum to nothing; there is no ratio")
    return totals


def _resampled(table: Float64Array, seed: int) -> Float64Array:
    """Column sums of many draws of as many blocks, with replacement: shapes (blocks, columns) -> (draws, columns)."""
    generator = np.random.default_rng(seed)
    rows = max(1, 2_000_000 // len(table))  # keeps the indices of one step within 16 MiB
    steps = (min(rows, RESAMPLES - start) for start in range(0, RESAMPLES, rows))
    drawn = np.concatenate(
        [table[generator.integers(len(table), size=(step, len(table)))].sum(axis=1) for step in steps]
    )
    # A draw of nothing but silent utterances has no ratio; the others stand for it.
    return drawn[np.all(drawn[:, 1::2] > 0, axis=1)]


def _expanded_percentiles(drawn: Float64Array, blocks: int) -> Interval:
    # Hesterberg 2015, section 3.3.3: t instead of z, and the variance of a draw is short by (n - 1) / n.
    reach = math.sqrt(blocks / (blocks - 1)) * student_quantile((1 + CONFIDENCE) / 2, blocks - 1)
    tail = normal_cdf(-reach)
    low, high = np.quantile(drawn, (tail, 1 - tail))
    return Interval(float(low), float(high))


# Trends.


@dataclass(frozen=True, slots=True)
class Trend:
    """A straight line through a series, without its warm-up."""

    per_hour: float
    """Change per hour, in the unit of the series."""
    interval: Interval
    """Of ``per_hour``."""
    warm_up_s: float
    """What was left out at the beginning."""
    windows: int
    """Medians that the line was fitted to."""

    @property
    def has_drift(self) -> bool:
        """Whether the interval excludes zero."""
        return self.interval.excludes(0)


WINDOWS = 32
"""Into which a series is cut. What holds on for up to a tenth of a window does not mislead the interval."""

_WINDOWS_NEEDED = 8
"""Fewer leave an interval from one end of the slopes to the other."""


def linear_trend(times_s: Sequence[float] | Float64Array, values: Sequence[float] | Float64Array) -> Trend | TooFew:
    """Growth per hour of memory, RTF, latency or temperature over a soak, with a distribution-free interval.

    The series is cut into windows of equal length, each replaced by its median; the warm-up is cut where the rest is
    straightest for its length (MSER, White 1997, on the residuals of a line; at most half of the series); the slope is
    the median of the slopes between all pairs of windows (Theil 1950), its interval Sen's (1968), which takes
    Kendall's S for normal and the windows for independent.

    Args:
        times_s: Moments of the readings, seconds, not decreasing.
        values: As many readings.

    Raises:
        ValueError: The lengths differ, a number is not finite, or the times decrease.
    """
    times, readings = _finite(times_s), _finite(values)
    if len(times) != len(readings):
        raise ValueError(f"{len(times)} moments and {len(readings)} readings are no series")
    if np.any(np.diff(times) < 0):
        raise ValueError("the moments of a series must not decrease")
    middles, medians = _window_medians(times, readings)
    if len(middles) < _WINDOWS_NEEDED:
        return TooFew(_WINDOWS_NEEDED, len(middles))
    start = _warm_up_windows(middles, medians)
    slope, interval = _theil_sen(middles[start:] / 3600, medians[start:])
    return Trend(slope, interval, float(middles[start] - middles[0]), len(middles) - start)


def _window_medians(times: Float64Array, readings: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Mean moment and median reading of each window that holds any, shape (windows,) both."""
    if not len(times) or times[0] == times[-1]:
        return times[:1], readings[:1]
    window = np.minimum((times - times[0]) / (times[-1] - times[0]) * WINDOWS, WINDOWS - 1).astype(int)
    members = [window == index for index in np.unique(window)]
    return (
        np.array([times[member].mean() for member in members]),
        np.array([np.median(readings[member]) for member in members]),
    )


def _warm_up_windows(times: Float64Array, values: Float64Array) -> int:
    last = min(len(times) // 2, len(times) - _WINDOWS_NEEDED)
    errors = [
        _squared_residuals(times[start:], values[start:]) / (len(times) - start) ** 2 for start in range(last + 1)
    ]
    start = int(np.argmin(errors))
    # The best of several cuts of pure noise is a little better than none, and to take it narrows the interval.
    if errors[start] > errors[0] / 2:
        return 0
    # What saturates goes on a while under the noise: as much again is left out.
    return min(2 * start, last)


def _squared_residuals(times: Float64Array, values: Float64Array) -> float:
    centred_times, centred = times - times.mean(), values - values.mean()
    slope = centred_times @ centred / (centred_times @ centred_times)
    return float(np.sum((centred - slope * centred_times) ** 2))


def _theil_sen(times: Float64Array, values: Float64Array) -> tuple[float, Interval]:
    first, second = np.triu_indices(len(times), k=1)
    slopes = np.sort((values[second] - values[first]) / (times[second] - times[first]))
    count = len(times)
    spread = normal_quantile((1 + CONFIDENCE) / 2) * math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    low_rank = math.floor((len(slopes) - spread) / 2)
    interval = Interval(
        float(slopes[max(low_rank, 1) - 1]), float(slopes[min(len(slopes) - low_rank, len(slopes) - 1)])
    )
    return float(np.median(slopes)), interval


def _finite(values: Sequence[float] | Float64Array) -> Float64Array:
    array = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError("a measurement is not a finite number")
    return array
