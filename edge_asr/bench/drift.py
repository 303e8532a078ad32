"""Whether a long run stays as it was: growth per hour of its cost, its latency, its memory and its heat. Pure.

Hours are those of the clock at live pace, and those of audio where recordings are decoded as fast as possible: what
leaks per recording then shows at the rate it would have in the field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from edge_asr.bench.document import Drift, Figure, Run, Sample
from edge_asr.statistics import TooFew, Trend, linear_trend, median

MIB = float(1 << 20)

MEMORY_PER_HOUR = 1.0 * MIB
"""Growth per hour from which memory counts as leaking."""

MEMORY_IN_ALL = 1.0 * MIB
"""And so much it must have grown in the whole run: allocators take memory in such steps."""

RELATIVE_PER_HOUR = 0.02
"""Growth per hour from which RTF and latency count as drifting, of their own median."""

SOAK_FROM_S = 600.0
"""Shorter runs show trends that mean nothing for a day; they have figures and no verdict."""


@dataclass(frozen=True, slots=True)
class Course:
    """A quantity over a run."""

    times_s: tuple[float, ...]
    """Of the clock, or of audio."""
    values: tuple[float, ...]
    unit: str

    @property
    def length_s(self) -> float:
        """From the first reading to the last."""
        return self.times_s[-1] - self.times_s[0] if self.times_s else 0.0


def drift_figures(run: Run) -> dict[str, Figure]:
    """``memory_growth``; of a soak also ``rtf_drift``, ``latency_drift`` and ``temperature_drift``.

    Args:
        run: Of what is learnt, the longer the better.
    """
    return {name: _trend_figure(course) for name, course in _courses(run)}


def drifts_of(runs: Sequence[Run]) -> tuple[Drift, ...]:
    """What drifted beyond doubt and by more than is harmless, in runs that are long enough to say so."""
    return tuple(
        Drift(figure=name, message=message)
        for run in runs
        for name, course in _courses(run)
        if course.length_s >= SOAK_FROM_S and (message := _verdict(name, course))
    )


def _courses(run: Run) -> Iterator[tuple[str, Course]]:
    yield "memory_growth", _memory(run)
    for name, course in (
        ("rtf_drift", _cost(run)),
        ("latency_drift", _latency(run)),
        ("temperature_drift", _heat(run)),
    ):
        if course.length_s >= SOAK_FROM_S:
            yield name, course


def _memory(run: Run) -> Course:
    times = tuple(_time_s(run, sample) for sample in run.samples)
    return Course(times, tuple(float(sample.rss_bytes) for sample in run.samples), "bytes")


def _heat(run: Run) -> Course:
    read = [sample for sample in run.samples if sample.celsius is not None]
    return Course(
        tuple(_time_s(run, sample) for sample in read), tuple(float(sample.celsius or 0.0) for sample in read), "°C"
    )


def _cost(run: Run) -> Course:
    """Processing time per second of audio between two readings; at live pace the processor's time."""
    steps = [(early, late) for early, late in pairwise(run.samples) if late.audio_s > early.audio_s]
    spent: list[float] = [
        late.busy_s - early.busy_s if _is_by_audio(run) else late.cpu_s - early.cpu_s for early, late in steps
    ]
    rates = [cost / (late.audio_s - early.audio_s) for cost, (early, late) in zip(spent, steps, strict=True)]
    return Course(tuple(_time_s(run, late) for _, late in steps), tuple(rates), "ratio")


def _latency(run: Run) -> Course:
    chunks = run.chunks
    if chunks is None or len(chunks.at_s) != len(chunks.latency_ms):
        return Course((), (), "ms")
    return Course(chunks.at_s, chunks.latency_ms, "ms")


def _is_by_audio(run: Run) -> bool:
    """Whether recordings were decoded as fast as possible."""
    return run.chunks is None


def _time_s(run: Run, sample: Sample) -> float:
    return sample.audio_s if _is_by_audio(run) else sample.at_s


def _trend_figure(course: Course) -> Figure:
    unit = f"{course.unit} per hour"
    match linear_trend(course.times_s, course.values):
        case TooFew() as few:
            return Figure(value=None, unit=unit, n=len(course.values), note=str(few))
        case Trend() as trend:
            low, high = trend.interval.low, trend.interval.high
            return Figure(value=trend.per_hour, unit=unit, low=low, high=high, n=trend.windows)


def _verdict(name: str, course: Course) -> str:
    """Why this is a drift, or nothing."""
    trend = linear_trend(course.times_s, course.values)
    if isinstance(trend, TooFew) or not trend.has_drift or trend.per_hour <= 0:
        return ""
    if name == "memory_growth":
        in_all = trend.per_hour * course.length_s / 3600
        if trend.per_hour <= MEMORY_PER_HOUR or in_all <= MEMORY_IN_ALL:
            return ""
        return (
            f"memory grows by {trend.per_hour / MIB:.1f} MiB/h; at most {MEMORY_PER_HOUR / MIB:.0f} MiB/h is harmless"
        )
    if name == "temperature_drift":
        return ""  # heat that slows the machine shows in the cost, and in the conditions of the run
    usual = median(course.values)
    if not usual or trend.per_hour / usual <= RELATIVE_PER_HOUR:
        return ""
    what = "the cost of a second of audio" if name == "rtf_drift" else "the latency of chunks"
    return f"{what} grows by {trend.per_hour / usual:.1%} per hour; at most {RELATIVE_PER_HOUR:.0%} is harmless"
