"""Figures against what was swept: threads, streams and how long a step waits for more streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from edge_asr.bench.document import Configuration, Figure, Mode, Result
from edge_asr.bench.labels import common_label, distinct_labels
from edge_asr.bench.plots.plot import Plot, Section, by_model, deadline_references, deadlines, marks, portions
from edge_asr.charts.axes import counted_axis, linear_axis
from edge_asr.charts.charts import COLOURS, Point, Reference, Series, xy_chart


@dataclass(frozen=True, slots=True)
class _Sweep:
    """A question that a sweep answers."""

    title: str
    vary: str
    """The field of the configuration along the horizontal axis."""
    mode: Mode
    axis: str
    figures: dict[str, str]
    """Each figure that is drawn, with its name in the legend."""
    example: str
    """Options that make the runs."""
    noun: str = ""
    """Of what is varied, where it is no number of things."""

    @property
    def across(self) -> str:
        """Title of the horizontal axis."""
        return f"{self.noun}, ms" if self.noun else self.vary


_RTF = {"rtf_wall": "wall time", "rtf_cpu": "CPU time"}
_LATENCY = {"chunk_latency_p50": "p50", "chunk_latency_p90": "p90"}
_THREADS = "--mode throughput --threads 1,2,4"
_STREAMS = "--mode throughput --streams 1,2,4"
_LIVE_STREAMS = "--mode paced --streams 1,2,4"
_WINDOWS = "--mode paced --streams 8 --window 0,20,80"
_LIVE_CPU = {"rtf_cpu_live": "CPU time"}

_SWEEPS = (
    _Sweep("Real-time factor against threads", "threads", "throughput", "real-time factor", _RTF, _THREADS),
    _Sweep("Real-time factor against streams", "streams", "throughput", "real-time factor", _RTF, _STREAMS),
    _Sweep("Chunk latency against live streams", "streams", "paced", "chunk latency, ms", _LATENCY, _LIVE_STREAMS),
    _Sweep(
        "Chunk latency against the batch window",
        "window_ms",
        "paced",
        "chunk latency, ms",
        _LATENCY,
        _WINDOWS,
        "batch window",
    ),
    _Sweep(
        "Processor time against the batch window",
        "window_ms",
        "paced",
        "CPU seconds per audio second",
        _LIVE_CPU,
        _WINDOWS,
        "batch window",
    ),
)


def sweep_sections(results: Sequence[Result]) -> Iterator[Section]:
    """One section for each of the sweeps, whether it was made or not."""
    for sweep in _SWEEPS:
        own = [result for result in results if result.configuration.mode == sweep.mode]
        yield Section(sweep.title, tuple(_plots(sweep, own)), _missing(sweep, own))


def alike(results: Iterable[Result], *vary: str) -> list[list[Result]]:
    """Results whose configurations differ in nothing but the named fields, together."""
    plain = Configuration(model="", mode="paced")
    same = {name: getattr(plain, name) for name in vary}
    lines: dict[Configuration, list[Result]] = {}
    for result in results:
        lines.setdefault(msgspec.structs.replace(result.configuration, **same), []).append(result)
    return list(lines.values())


def _missing(sweep: _Sweep, results: Iterable[Result]) -> str:
    measured = sorted({_place(sweep, result) for result in results})
    if not measured:
        return f"Left out: no {sweep.mode} run was made; `{sweep.example}` makes them."
    if len(measured) > 1:
        return "Left out: no two runs that differ in nothing else have a figure."
    if sweep.noun:
        return f"Left out: only one {sweep.noun} was measured; `{sweep.example}` sweeps."
    noun = sweep.vary if measured != [1] else sweep.vary.removesuffix("s")
    return f"Left out: only {measured[0]} {noun} was measured; `{sweep.example}` sweeps."


def _place(sweep: _Sweep, result: Result) -> int:
    place: int = getattr(result.configuration, sweep.vary)
    return place


def _plots(sweep: _Sweep, results: Sequence[Result]) -> Iterator[Plot]:
    for own in by_model(results):
        lines = [line for line in _lines(sweep, own) if sum(_has_figure(sweep, result) for result in line) > 1]
        for chosen in portions(lines, COLOURS // len(sweep.figures)):
            yield _plot(sweep, chosen)


def _lines(sweep: _Sweep, results: Sequence[Result]) -> list[list[Result]]:
    """Results to connect; the cores they were pinned to may follow the threads, unless one count ran on several."""
    lines = alike(results, sweep.vary, "cpus")
    if any(len({_place(sweep, result) for result in line}) < len(line) for line in lines):
        lines = alike(results, sweep.vary)
    return [sorted(line, key=lambda result: _place(sweep, result)) for line in lines]


def _has_figure(sweep: _Sweep, result: Result) -> bool:
    return any(result.figures[name].value is not None for name in sweep.figures if name in result.figures)


def _plot(sweep: _Sweep, lines: Sequence[list[Result]]) -> Plot:
    results = [result for line in lines for result in line]
    series = list(_all_series(sweep, lines))
    reached = [value for one in series for point in one.points for value in (point.y, point.low, point.high)]
    values = [value for value in reached if value is not None]
    references = list(_references(sweep, results, max(values)))
    x = counted_axis(sweep.across, [point.x for one in series for point in one.points])
    y = linear_axis(sweep.axis, [*values, *(reference.value for reference in references)])
    caption = common_label([result.configuration for result in results])
    return Plot(caption, xy_chart(sweep.title, x, y, series, references), marks(results))


def _references(sweep: _Sweep, results: Sequence[Result], highest: float) -> Iterator[Reference]:
    """What the figures must stay under; left out where it would squeeze them to the ground."""
    if sweep.mode == "throughput":
        limits = [Reference("y", 1.0, "as fast as it is spoken")]
    else:
        limits = [] if sweep.figures is _LIVE_CPU else deadline_references("y", deadlines(results))
    yield from (limit for limit in limits if limit.value <= 4 * highest)


def _all_series(sweep: _Sweep, lines: Sequence[list[Result]]) -> Iterator[Series]:
    labels = distinct_labels([line[0].configuration for line in lines], frozenset({sweep.vary}))
    for index, (line, label) in enumerate(zip(lines, labels, strict=True)):
        for place, (name, title) in enumerate(sweep.figures.items()):
            full = f"{title} · {label}" if len(lines) > 1 else title
            style = index * len(sweep.figures) + place
            measured = [(result, result.figures[name]) for result in line if name in result.figures]
            yield from _split_by_validity(sweep, full, measured, style)


def _split_by_validity(
    sweep: _Sweep, title: str, measured: Sequence[tuple[Result, Figure]], style: int
) -> Iterator[Series]:
    """The valid points as a line, the invalid ones by themselves: no line leads through them."""
    for is_valid in (True, False):
        points = tuple(
            Point(float(_place(sweep, result)), figure.value, figure.low, figure.high)
            for result, figure in measured
            if figure.value is not None and result.is_valid == is_valid
        )
        if points and is_valid:
            yield Series(name=title, points=points, style=style)
        elif points:
            yield Series(name=title, points=points, style=style, shape="scatter", is_invalid=True)
