"""A bench in the terminal: one row per configuration, and below it what must be known to read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from edge_asr.bench.document import Document, Result
from edge_asr.bench.figure_text import faults, unavailable, verdict
from edge_asr.bench.labels import headed_labels
from edge_asr.bench.overview import COLUMNS, LEGEND, cells, filled_columns

_LEAST_NAME = 18
"""Columns that names need beside the figures; where fewer are left, each configuration becomes a block of lines."""


class BenchTable:
    """Draws itself to the width of the terminal: ``console.print(BenchTable(document))``."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        document = self._document
        if document.results:
            yield from _results(document.results, options.max_width)
            yield Text(LEGEND, style="dim")
        yield Text(verdict(document), style="green" if document.is_valid else "bold red")
        for result in document.results:
            yield from (_note(f"{result.configuration.label()}: {fault}", "red") for fault in faults(result))
        for reason, names in unavailable(document.results).items():
            yield _note(f"{reason}: {', '.join(names)}")
        yield from map(_note, document.notes)


def _results(results: tuple[Result, ...], width: int) -> Iterator[RenderableType]:
    heading, labels = headed_labels([result.configuration for result in results])
    if heading:
        yield Text(heading, style="bold")
    shown = filled_columns(results)
    if width - _figures_width(results, shown) >= _LEAST_NAME:
        yield _table(results, labels, shown)
    else:
        yield from _blocks(results, labels, shown)
    yield Text()


def _figures_width(results: Sequence[Result], shown: Sequence[int]) -> int:
    rows = [[*_header(index).split("\n"), *(cells(result)[index] for result in results)] for index in shown]
    return sum(max(map(len, row)) + 1 for row in rows) + len("valid")


def _header(index: int) -> str:
    """In two lines, so that the column is hardly wider than its figures."""
    return COLUMNS[index].title.replace(" ", "\n", 1)


def _table(results: Sequence[Result], labels: Sequence[str], shown: Sequence[int]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("configuration")
    for index in shown:
        table.add_column(_header(index), justify="right", no_wrap=True)
    table.add_column("valid", no_wrap=True)
    for result, label in zip(results, labels, strict=True):
        row = cells(result)
        style = "" if result.is_valid else "red"
        table.add_row(Text(label), *(Text(row[index]) for index in shown), _mark(result), style=style)
    return table


def _blocks(results: Sequence[Result], labels: Sequence[str], shown: Sequence[int]) -> Iterator[RenderableType]:
    for result, label in zip(results, labels, strict=True):
        row = cells(result)
        yield Text.assemble((label, "bold"), ", valid: ", _mark(result))
        yield Padding(Text(", ".join(f"{COLUMNS[index].title} {row[index]}" for index in shown)), (0, 0, 0, 2))


def _mark(result: Result) -> Text:
    return Text("yes", style="green") if result.is_valid else Text("NO", style="bold red")


def _note(sentence: str, style: str = "") -> RenderableType:
    """A bullet whose further lines are indented."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("-", Text(sentence, style=style))
    return grid
