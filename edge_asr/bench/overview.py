"""The few figures that stand in one row per configuration, in every form of the report."""

from __future__ import annotations

from dataclasses import dataclass

from edge_asr.bench.document import Figure, Result
from edge_asr.bench.figure_text import is_sample_too_small, quantity

EMPTY = "–"
"""Stands where a mode or a run has no such figure."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: the first of its figures that a configuration has."""

    title: str
    figures: tuple[str, ...]


COLUMNS = (
    Column("RTF wall", ("rtf_wall",)),
    Column("RTF CPU", ("rtf_cpu", "rtf_cpu_live")),
    Column("speed or p90", ("rtf_wall", "chunk_latency_p90", "chunk_compute_p90")),
    Column("missed", ("deadline_miss",)),
    Column("WER or CER", ("wer", "cer")),
    Column("flush", ("flush_latency_p50",)),
    Column("memory", ("memory_peak",)),
    Column("on provider", ("provider_share",)),
)
"""RTF CPU of a paced run is at live pace; ``speed`` is audio seconds per wall second, ``p90`` of the chunk latency."""

LEGEND = (
    "RTF: processing time per audio second, less is faster; CPU of paced runs is at live pace. "
    "speed or p90: audio seconds per second (×), or the latency that 9 of 10 chunks stay under. "
    "flush: last audio to final, median."
)


def cells(result: Result) -> list[str]:
    """The row of a configuration, without its name and mark."""
    return [_cell(column, result.figures) for column in COLUMNS]


def filled_columns(results: tuple[Result, ...]) -> list[int]:
    """Positions of the columns in which any configuration has something."""
    rows = [cells(result) for result in results]
    return [index for index in range(len(COLUMNS)) if any(row[index] != EMPTY for row in rows)]


def _cell(column: Column, figures: dict[str, Figure]) -> str:
    name = next((name for name in column.figures if name in figures), None)
    if name is None:
        return EMPTY
    figure = figures[name]
    if figure.value is None:
        return "n small" if is_sample_too_small(figure) else EMPTY
    if name == "rtf_wall" and column.title.startswith("speed"):
        return f"{quantity(1 / figure.value, 'ratio')} ×" if figure.value > 0 else EMPTY
    return quantity(figure.value, figure.unit)
