"""A plot of a report with what must be said beside it, and how results are dealt out to plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from edge_asr.bench.document import Result
from edge_asr.bench.figure_text import faults, quantity
from edge_asr.bench.labels import distinct_labels
from edge_asr.charts.charts import Reference

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Plot:
    """One chart."""

    caption: str
    """What all that is drawn has in common."""
    svg: str
    marks: tuple[str, ...] = ()
    """What makes a part of it invalid."""


@dataclass(frozen=True, slots=True)
class Section:
    """The plots that answer one question."""

    title: str
    plots: tuple[Plot, ...]
    missing: str
    """The sentence that stands there when there are none."""


def by_model(results: Iterable[Result]) -> list[list[Result]]:
    """Results of each model, which are drawn apart: their scales differ too much."""
    models: dict[str, list[Result]] = {}
    for result in results:
        models.setdefault(result.configuration.model, []).append(result)
    return list(models.values())


def portions(items: Sequence[_Item], most: int) -> Iterator[Sequence[_Item]]:
    """Cut into as many as one chart can show."""
    for start in range(0, len(items), most):
        yield items[start : start + most]


def marks(results: Sequence[Result]) -> tuple[str, ...]:
    """A sentence for each thing that makes any of them invalid; it names the configuration where there are several."""
    labels = distinct_labels([result.configuration for result in results])
    named = [f"{label}: " for label in labels] if len(results) > 1 else [""]
    return tuple(name + fault for result, name in zip(results, named, strict=True) for fault in faults(result))


def deadlines(results: Iterable[Result]) -> list[float]:
    """Chunk lengths of the results, in milliseconds, each once."""
    runs = [run for result in results for run in result.runs]
    return sorted({run.chunks.chunk_ms for run in runs if run.chunks and run.chunks.chunk_ms})


def deadline_references(side: Literal["x", "y"], lengths_ms: Iterable[float]) -> list[Reference]:
    """A line at each chunk length, on an axis of milliseconds."""
    return [Reference(side, length, f"chunk length, {quantity(length, 'ms')}") for length in lengths_ms]
