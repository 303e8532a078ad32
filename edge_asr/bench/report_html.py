"""A bench as one self-contained HTML page: no script, no external resource, readable in light and dark.

What a document holds is shown with its certainty; what disturbed a run stands beside every figure and plot that it
touches; what the document does not hold is left out with a sentence. Whatever comes from outside is escaped.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from edge_asr.bench.document import ClipIdentity, Document, ModelIdentity, OperatorTime, Result, Run, encode
from edge_asr.bench.fact_text import board_name, facts
from edge_asr.bench.figure_text import faults, grouped, interval_text, quantity, title_of, value_text, verdict
from edge_asr.bench.overview import COLUMNS, LEGEND, cells, filled_columns
from edge_asr.bench.plots.plot import Plot, Section
from edge_asr.bench.plots.sections import sections
from edge_asr.charts.page import number, page, table

_OPEN_UP_TO = 3
"""With more configurations, the figures of each are folded away under its name."""
_OPERATORS = 12
"""Of each graph; the others stand together in one row."""
_INVALID = "<span class='mark'>invalid</span>"
_NO_REFERENCE = "<span class='quiet'>no reference</span>"


def render_html(document: Document) -> str:
    """The whole page."""
    title = f"edge-asr bench, {', '.join(model.name for model in document.models) or 'no model'}"
    return page(title, _body(document))


def _body(document: Document) -> Iterator[str]:
    yield f"<header><h1>edge-asr bench</h1><p class='quiet'>{_headline(document)}</p></header>"
    yield _banner(document)
    yield f"<h2>Overview</h2>{_overview(document)}"
    yield f"<h2>Plots</h2><div class='plots'>{''.join(map(_section, sections(document)))}</div>"
    yield "<h2>Figures</h2>"
    is_open = len(document.results) <= _OPEN_UP_TO
    yield from (_configuration(result, is_open) for result in document.results)
    yield f"<h2>Operators</h2>{_operators(document.results)}"
    yield f"<h2>What was measured, on what</h2><div class='cards'>{''.join(_cards(document))}</div>"
    yield from _clips(document.workload.clips)
    yield f"<h2>To repeat it</h2>{''.join(_repeat(document))}"


# The top


def _headline(document: Document) -> str:
    parts = [document.created, board_name(document.board), *(model.name for model in document.models)]
    return escape(" · ".join(part for part in parts if part))


def _banner(document: Document) -> str:
    if document.is_valid:
        return f"<div class='banner'>{escape(verdict(document))}</div>"
    found = [(result.configuration.label(), fault) for result in document.results for fault in faults(result)]
    items = "".join(f"<li>{escape(f'{label}: {fault}')}</li>" for label, fault in found)
    return f"<div class='banner alarm' role='alert'><strong>{escape(verdict(document))}</strong><ul>{items}</ul></div>"


def _overview(document: Document) -> str:
    shown = filled_columns(document.results)
    head = ["Configuration", "valid", *(COLUMNS[index].title for index in shown)]
    rows = []
    for result in document.results:
        row = cells(result)
        mark = "yes" if result.is_valid else "<span class='mark'>NO</span>"
        numbers = "".join(number(row[index]) for index in shown)
        rows.append(f"<tr><th scope='row'>{escape(result.configuration.label())}</th><td>{mark}</td>{numbers}</tr>")
    notes = "".join(f"<p>{escape(note)}</p>" for note in document.notes)
    return f"{table(head, rows, numbers=range(2, len(shown) + 2))}<p class='quiet'>{escape(LEGEND)}</p>{notes}"


# Plots


def _section(section: Section) -> str:
    head = f"<h3>{escape(section.title)}</h3>"
    if not section.plots:
        return f"<section>{head}<p class='quiet'>{_with_code(section.missing)}</p></section>"
    return f"<section>{head}{''.join(map(_plot, section.plots))}</section>"


def _plot(plot: Plot) -> str:
    caption = escape(plot.caption) + (f" — {_INVALID}" if plot.marks else "")
    return f"<figure><figcaption>{caption}</figcaption>{plot.svg}{_marks(plot.marks)}</figure>"


def _marks(sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul class='marks'>{items}</ul>" if items else ""


def _with_code(sentence: str) -> str:
    """Escaped, with what stands in backticks as code."""
    pieces = escape(sentence).split("`")
    return "".join(f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces))


# Figures of one configuration


def _configuration(result: Result, is_open: bool) -> str:
    label = escape(result.configuration.label()) + ("" if result.is_valid else f" — {_INVALID}")
    inside = f"{_marks(faults(result))}{_figures(result)}{_runs(result.runs)}"
    if is_open:
        return f"<section><h3>{label}</h3>{inside}</section>"
    return f"<details><summary>{label}</summary>{inside}</details>"


def _figures(result: Result) -> str:
    if not result.figures:
        return "<p class='quiet'>It has no figures.</p>"
    mark = "" if result.is_valid else f"<span title='{escape('; '.join(faults(result)))}'>{_INVALID}</span>"
    rows = []
    for group, members in grouped(result.figures):
        rows.append(f"<tr><th class='group' colspan='5' scope='rowgroup'>{escape(group)}</th></tr>")
        for name, figure in members:
            note = "" if figure.value is None else figure.note
            remark = " ".join(part for part in (mark, escape(note)) if part)
            rows.append(
                f"<tr><th scope='row'>{escape(title_of(name))}</th>{number(value_text(figure))}"
                f"{number(interval_text(figure))}{number(str(figure.n or ''))}<td>{remark}</td></tr>"
            )
    return table(["Figure", "Value", "95 % interval", "n", ""], rows, numbers=range(1, 4))


def _runs(runs: Sequence[Run]) -> str:
    if not runs:
        return ""
    head = ["Repetition", "Order", "Provider", "Load", "Audio", "Padding", "Wall", "CPU", "Peak", "Valid"]
    rows = [_run_row(run) for run in runs]
    conditions = [(f"Repetition {run.repetition + 1}", run.conditions) for run in runs if run.conditions]
    notes = dict.fromkeys(note for run in runs for note in run.notes)
    tables = "".join(f"<h3>{escape(name)}: conditions</h3>{_facts(content)}" for name, content in conditions)
    return (
        f"<details><summary>{'Its run' if len(runs) == 1 else f'Its {len(runs)} runs, one process each'}</summary>"
        f"{table(head, rows, numbers=(0, 1, 3, 4, 5, 6, 7, 8))}{tables}</details>"
        f"{''.join(f'<p>{escape(note)}</p>' for note in notes)}"
    )


def _run_row(run: Run) -> str:
    seconds = (run.load_s, run.audio_s, run.padding_s, run.wall_s, run.cpu_s)
    numbers = [*(quantity(value, "s") for value in seconds), quantity(run.peak_bytes, "bytes")]
    numbers[0] += " cold" if run.is_cold_load else ""
    why = "; ".join(violation.message for violation in run.violations)
    valid = "yes" if run.is_valid else f"<span class='mark'>no: {escape(why)}</span>"
    return (
        f"<tr>{number(str(run.repetition + 1))}{number(str(run.order + 1))}<td>{escape(run.provider)}</td>"
        f"{''.join(map(number, numbers))}<td>{valid}</td></tr>"
    )


# Operators


def _operators(results: Sequence[Result]) -> str:
    tables = [
        _operator_table(result, graph)
        for result in results
        for graph in dict.fromkeys(it.graph for it in result.operators)
    ]
    if not tables:
        return f"<p class='quiet'>{_with_code('Left out: `--profile-ops` was not asked for.')}</p>"
    return f"<div class='cards'>{''.join(tables)}</div>"


def _operator_table(result: Result, graph: str) -> str:
    own = sorted((it for it in result.operators if it.graph == graph), key=lambda it: -it.total_ms)
    shown, others = own[:_OPERATORS], own[_OPERATORS:]
    if others:
        calls, total, share = (sum(getattr(it, name) for it in others) for name in ("calls", "total_ms", "share"))
        shown.append(
            OperatorTime(graph=graph, operator=f"{len(others)} others", calls=calls, total_ms=total, share=share)
        )
    rows = [
        f"<tr><th scope='row'>{escape(it.operator)}</th>{number(str(it.calls))}"
        f"{number(quantity(it.total_ms, 'ms'))}{number(quantity(it.share, 'share'))}</tr>"
        for it in shown
    ]
    title = f"<section><h3>{escape(f'{result.configuration.label()}: {graph}')}</h3>"
    head = ["Operator", "Calls", "Time", "Share of the graph"]
    return f"{title}{_marks(faults(result))}{table(head, rows, numbers=range(1, 4))}</section>"


# What was measured, on what


def _cards(document: Document) -> Iterator[str]:
    yield f"<section><h3>Board</h3>{_facts(document.board)}</section>"
    yield f"<section><h3>Versions</h3>{_facts(document.versions)}</section>"
    yield from map(_model, document.models)
    workload = document.workload
    audio_s = sum(clip.audio_s for clip in workload.clips)
    content = {
        "source": workload.source,
        "language": workload.language,
        "normaliser": workload.normaliser,
        "clips": f"{len(workload.clips)}, {quantity(audio_s, 's')} of audio",
    }
    yield f"<section><h3>Workload</h3>{_facts(content)}</section>"


def _model(model: ModelIdentity) -> str:
    content = {
        "version": model.version,
        "family": model.family,
        "precision": model.precision,
        "chunk": quantity(model.chunk_ms, "ms") if model.chunk_ms else "does not stream",
        "size": quantity(model.size_bytes, "bytes"),
    }
    hashes = "".join(
        f"<tr><th scope='row'>{escape(role)}</th><td><code class='hash'>{escape(digest)}</code></td></tr>"
        for role, digest in model.files.items()
    )
    return (
        f"<section><h3>Model {escape(model.name)}</h3>"
        f"<table class='facts'><tbody>{_fact_rows(content)}{hashes}</tbody></table></section>"
    )


def _clips(clips: Sequence[ClipIdentity]) -> Iterator[str]:
    if clips:
        rows = [
            f"<tr><th scope='row'>{escape(clip.name)}</th>{number(quantity(clip.audio_s, 's'))}"
            f"<td>{escape(clip.text) or _NO_REFERENCE}</td>"
            f"<td><code class='hash'>{escape(clip.sha256)}</code></td></tr>"
            for clip in clips
        ]
        listing = table(["Clip", "Length", "Reference", "sha256"], rows, numbers=(1,))
        yield f"<details><summary>The {len(clips)} clips</summary>{listing}</details>"


def _repeat(document: Document) -> Iterator[str]:
    yield f"<pre class='command'>{escape(shlex.join(document.command))}</pre>"
    yield f"<p class='quiet'>Seed {document.seed}; document schema {document.schema}.</p>"
    yield f"<details><summary>Settings</summary>{_facts(document.settings)}</details>"
    raw = escape(encode(document).decode())
    yield f"<details><summary>The whole document as JSON</summary><pre>{raw}</pre></details>"


# Tables of facts


def _facts(content: Mapping[str, Any]) -> str:
    if not content:
        return "<p class='quiet'>The document does not say.</p>"
    return f"<div class='wide'><table class='facts'><tbody>{_fact_rows(content)}</tbody></table></div>"


def _fact_rows(content: Mapping[str, Any]) -> str:
    return "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts(content)
    )
