"""Axes of charts: round ends, sensible ticks, values to positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Values to positions, linear or by logarithm."""

    low: float
    high: float
    start: float
    """Position of ``low``."""
    stop: float
    is_log: bool = False

    def position(self, value: float) -> float:
        """Where the value is drawn."""
        low, high = (math.log(self.low), math.log(self.high)) if self.is_log else (self.low, self.high)
        at = math.log(value) if self.is_log else value
        return self.start + (at - low) / (high - low) * (self.stop - self.start)


@dataclass(frozen=True, slots=True)
class Axis:
    """What is written along one side."""

    title: str
    low: float
    high: float
    ticks: tuple[float, ...]
    is_log: bool = False

    def scale(self, start: float, stop: float) -> Scale:
        """This axis drawn between two positions."""
        return Scale(self.low, self.high, start, stop, self.is_log)


def ticks(low: float, high: float, about: int = 6) -> tuple[float, ...]:
    """Round values, 1, 2 or 5 times a power of ten apart, from at or below ``low`` to at or above ``high``."""
    step = _round_step((high - low) / about)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(round(index * step, 12) for index in range(first, last + 1))


def _round_step(rough: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))


def linear_axis(title: str, values: Sequence[float], *, from_zero: bool = True, least_span: float = 0.0) -> Axis:
    """An axis with round ends that holds all values.

    Args:
        title: What is measured, with the unit.
        values: At least one.
        from_zero: Whether zero is on it.
        least_span: So that small changes of a large value look small.
    """
    low, high = min(values), max(values)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    missing = max(least_span, abs(high) * 1e-3, 1e-6) - (high - low)
    if missing > 0:
        low, high = (low, high + missing) if from_zero else (low - missing / 2, high + missing / 2)
    marks = ticks(low, high)
    return Axis(title, marks[0], marks[-1], marks)


def log_axis(title: str, values: Sequence[float]) -> Axis:
    """A logarithmic axis over positive values, with ticks at 1, 2 and 5 times the powers of ten."""
    low, high = min(values), max(values)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    first = max((mark for mark in marks if mark <= low * (1 + 1e-9)), default=marks[0])
    last = min((mark for mark in marks if mark >= high * (1 - 1e-9) and mark > first), default=first * 10)
    inside = tuple(mark for mark in marks if first <= mark <= last)
    return Axis(title, first, last, inside if len(inside) > 1 else (first, last), is_log=True)


def counted_axis(title: str, counts: Sequence[float]) -> Axis:
    """An axis with ticks at the very counts that were measured: threads, streams."""
    marks = tuple(sorted(set(counts)))
    low, high = marks[0], marks[-1]
    margin = max((high - low) * 0.06, 0.06)
    if high > 8 * low > 0:
        return Axis(title, low * 0.85, high * 1.18, marks, is_log=True)
    return Axis(title, low - margin, high + margin, marks)


def spread_axis(title: str, values: Sequence[float]) -> Axis:
    """Linear from zero; logarithmic where the largest value would squeeze the others against the side."""
    middle = sorted(values)[len(values) // 2]
    is_wide = min(values) > 0 and max(values) > 20 * middle
    return log_axis(title, values) if is_wide else linear_axis(title, values)
