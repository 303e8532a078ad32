"""Latency distributions, as the share of samples at or below each value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from edge_asr.bench.document import Result, Run
from edge_asr.bench.labels import common_label, distinct_labels
from edge_asr.bench.plots.plot import Plot, Section, by_model, deadline_references, deadlines, marks, portions
from edge_asr.charts.axes import Axis, spread_axis
from edge_asr.charts.charts import COLOURS, Series, step_cdf, xy_chart


@dataclass(frozen=True, slots=True)
class _Distribution:
    """Samples whose distribution is drawn, in milliseconds."""

    title: str
    axis: str
    missing: str
    samples: Callable[[Run], Iterable[float | None]]
    has_deadline: bool = False
    """Whether the chunk length is marked."""


_DISTRIBUTIONS = (
    _Distribution(
        "Chunk compute",
        "computing one chunk, ms",
        "Left out: only a paced run (`--mode paced`) times single chunks.",
        lambda run: run.chunks.compute_ms if run.chunks else (),
        has_deadline=True,
    ),
    _Distribution(
        "Chunk latency",
        "chunk complete to decoded, ms",
        "Left out: only in a paced run (`--mode paced`) do chunks wait.",
        lambda run: run.chunks.latency_ms if run.chunks else (),
        has_deadline=True,
    ),
    _Distribution(
        "Last audio to final",
        "last audio to final, ms",
        "Left out: no flush was timed; a paced run (`--mode paced`) times one for each clip.",
        lambda run: (utterance.flush_ms for utterance in run.utterances),
    ),
    _Distribution(
        "First partial",
        "onset of speech to first partial, ms",
        "Left out: no first partial was timed; a paced run (`--mode paced`) does that where the onset is known.",
        lambda run: (utterance.first_partial_ms for utterance in run.utterances),
    ),
)


def distribution_sections(results: Sequence[Result]) -> Iterator[Section]:
    """One section for each kind of latency."""
    for what in _DISTRIBUTIONS:
        yield Section(what.title, tuple(_plots(what, results)), what.missing)


def _plots(what: _Distribution, results: Sequence[Result]) -> Iterator[Plot]:
    for own in by_model(results):
        measured = [(result, values) for result in own if (values := _values(what, result))]
        for chosen in portions(measured, COLOURS):
            yield _plot(what, chosen)


def _values(what: _Distribution, result: Result) -> list[float]:
    return [value for run in result.runs for value in what.samples(run) if value is not None]


def _plot(what: _Distribution, chosen: Sequence[tuple[Result, list[float]]]) -> Plot:
    results = [result for result, _ in chosen]
    configurations = [result.configuration for result in results]
    labels = distinct_labels(configurations)
    series = [
        Series(
            name=f"{label} (n = {len(values)})",
            points=step_cdf(values),
            style=style,
            shape="steps",
            is_invalid=not result.is_valid,
        )
        for style, ((result, values), label) in enumerate(zip(chosen, labels, strict=True))
    ]
    references = deadline_references("x", deadlines(results)) if what.has_deadline else []
    values = [value for _, own in chosen for value in own]
    x = spread_axis(what.axis, [*values, *(reference.value for reference in references)])
    y = Axis("share at or below", 0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 0.9, 1.0))
    return Plot(common_label(configurations), xy_chart(what.title, x, y, series, references), marks(results))
