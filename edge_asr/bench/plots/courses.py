"""What is followed through the runs: real-time factor, temperature, frequency and memory against time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from edge_asr.bench.document import Result, Run, Sample
from edge_asr.bench.labels import common_label, distinct_labels
from edge_asr.bench.plots.plot import Plot, Section, by_model, marks, portions
from edge_asr.charts.axes import linear_axis
from edge_asr.charts.charts import COLOURS, Point, Series, thinned, xy_chart

_MIB = 2**20
_WINDOWS = 60
"""Stretches that a run is cut into for its real-time factor against time."""


@dataclass(frozen=True, slots=True)
class _Course:
    """Something that is followed through the runs."""

    title: str
    axis: str
    missing: str
    points: Callable[[Run, Result], Sequence[Point]]
    from_zero: bool = True


def rtf_points(samples: Sequence[Sample], is_paced: bool) -> tuple[Point, ...]:
    """Real-time factor of successive stretches of a run; by wall time, or by CPU time when it was paced."""
    if len(samples) < len(("from", "to")):
        return ()
    span = (samples[-1].at_s - samples[0].at_s) / _WINDOWS
    points = []
    begin = samples[0]
    for sample in samples[1:]:
        audio_s = sample.audio_s - begin.audio_s
        if audio_s <= 0 or sample.at_s - begin.at_s < span:
            continue
        spent = sample.cpu_s - begin.cpu_s if is_paced else sample.at_s - begin.at_s
        points.append(Point((begin.at_s + sample.at_s) / 2, spent / audio_s))
        begin = sample
    return tuple(points)


_RTF_COURSES = (
    _Course(
        "Real-time factor against time",
        "real-time factor, wall",
        "Left out: no throughput run was long enough to be followed; it is sampled once a second.",
        lambda run, result: () if _is_paced(result) else rtf_points(run.samples, is_paced=False),
    ),
    _Course(
        "CPU at live pace against time",
        "CPU s per audio s",
        "Left out: no paced run was long enough to be followed; it is sampled once a second.",
        lambda run, result: rtf_points(run.samples, is_paced=True) if _is_paced(result) else (),
    ),
)
_TEMPERATURE = _Course(
    "Temperature against time",
    "temperature, °C",
    "Left out: no temperature sensor could be read on this machine.",
    lambda run, _: thinned([Point(it.at_s, it.celsius) for it in run.samples if it.celsius is not None]),
    from_zero=False,
)
_FREQUENCY = _Course(
    "Clock frequency against time",
    "frequency, MHz",
    "Left out: this machine does not tell the frequency of its cores.",
    lambda run, _: thinned([Point(it.at_s, it.frequency_khz / 1000) for it in run.samples if it.frequency_khz]),
)
_MEMORY = _Course(
    "Memory against time",
    "resident memory, MiB",
    "Left out: no run was long enough to be followed; it is sampled once a second.",
    lambda run, _: thinned([Point(it.at_s, it.rss_bytes / _MIB) for it in run.samples]),
    from_zero=False,
)


def _is_paced(result: Result) -> bool:
    return result.configuration.mode == "paced"


def course_sections(results: Sequence[Result]) -> Iterator[Section]:
    """One section for each course."""
    for course in (*_RTF_COURSES, _TEMPERATURE, _FREQUENCY, _MEMORY):
        yield Section(course.title, tuple(_course_plots(course, results)), course.missing)


def _course_plots(course: _Course, results: Sequence[Result]) -> Iterator[Plot]:
    for own in by_model(results):
        measured = [(result, runs) for result in own if (runs := _followed(course, result))]
        for chosen in portions(measured, COLOURS):
            yield _course_plot(course, chosen)


def _followed(course: _Course, result: Result) -> list[tuple[Point, ...]]:
    return [points for run in result.runs if len(points := tuple(course.points(run, result))) > 1]


def _course_plot(course: _Course, chosen: Sequence[tuple[Result, list[tuple[Point, ...]]]]) -> Plot:
    configurations = [result.configuration for result, _ in chosen]
    labels = distinct_labels(configurations)
    series = []
    for index, ((result, runs), label) in enumerate(zip(chosen, labels, strict=True)):
        name = label + (f" ({len(runs)} runs)" if len(runs) > 1 else "")
        one = Series(name=name, points=(), style=index, shape="line", is_invalid=not result.is_valid)
        series += [replace(one, points=points) for points in runs]
    values = [point.y for one in series for point in one.points]
    # A tenth of the largest value fills the chart at most, so that noise does not look like growth.
    y = linear_axis(course.axis, values, from_zero=course.from_zero, least_span=max(values) / 10)
    x = linear_axis("time since measuring began, s", [point.x for one in series for point in one.points])
    return Plot(
        common_label(configurations), xy_chart(course.title, x, y, series), marks([result for result, _ in chosen])
    )
