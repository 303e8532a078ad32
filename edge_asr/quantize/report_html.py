"""A quantization as one self-contained HTML page: what was kept and why, against what else there was."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from html import escape

from edge_asr.charts.axes import linear_axis
from edge_asr.charts.charts import COLOURS, Bar, BarGroup, Reference, Segment, Series, bar_chart, xy_chart
from edge_asr.charts.charts import Point as Dot
from edge_asr.charts.page import number, page, table
from edge_asr.quantize.accept import UNIT_NAMES
from edge_asr.quantize.document import STOCK, AudioSet, Document, NodeRecord, Point, encode
from edge_asr.quantize.figure_text import (
    MIB,
    accuracy_cells,
    change_text,
    headings,
    nodes_text,
    operators_text,
    rate_text,
    size_text,
    speed_cells,
)

_MOST_BARS = 12
"""Nodes in the sensitivity chart; the others are in the table."""
_STYLES = {"original": 0, "kept": 2, "within": 1, "other": 3, "stock": 5}


def render_html(document: Document) -> str:
    """The whole page."""
    return page(f"edge-asr quantize, {document.origin.name}", _body(document))


def _body(document: Document) -> Iterator[str]:
    origin = document.origin
    head = " · ".join((document.created, f"{origin.name} {origin.version}", document.recipe, document.target))
    yield f"<header><h1>edge-asr quantize</h1><p class='quiet'>{escape(head)}</p></header>"
    yield _banner(document)
    yield f"<h2>Models</h2>{_models(document)}"
    yield "<h2>Plots</h2><div class='plots'>"
    yield from _pareto(document)
    yield from _sensitivity(document.nodes)
    yield f"</div><h2>Components</h2>{_components(document)}"
    if document.nodes:
        yield f"<details><summary>What was done with each node</summary>{_nodes(document)}</details>"
    yield f"<h2>How it was judged</h2>{_facts(document)}"
    yield f"<h2>To repeat it</h2><pre class='command'>{escape(shlex.join(document.command))}</pre>"
    raw = escape(encode(document).decode())
    yield f"<details><summary>The whole document as JSON</summary><pre>{raw}</pre></details>"


# The top


def _banner(document: Document) -> str:
    kept = next((point for point in document.points if point.name == document.kept), None)
    notes = "".join(f"<li>{escape(note)}</li>" for note in (*document.rescues, *document.notes))
    listing = f"<ul>{notes}</ul>" if notes else ""
    if kept is None:
        budget = f" of {100 * document.budget:g} percentage points" if document.budget is not None else ""
        text = f"No model is within the budget{budget}; nothing was written but this page."
        return f"<div class='banner alarm' role='alert'><strong>{escape(text)}</strong>{listing}</div>"
    return f"<div class='banner'>{escape(summary(document, kept))}{listing}</div>"


def summary(document: Document, kept: Point) -> str:
    """One sentence on the model that was kept."""
    parts = [f"{kept.name}: {size_text(kept.size_bytes)}"]
    original = next((point for point in document.points if point.verdict == "original"), None)
    if original is not None:
        parts[0] += f" of {size_text(original.size_bytes)}"
    if kept.accuracy is not None:
        parts.append(f"{document.metric.upper()} {rate_text(kept.accuracy.error_rate)} ({change_text(kept)})")
    if kept.speed is not None and kept.speed.ratio is not None:
        parts.append(f"{kept.speed.ratio:.2f} × the original's CPU time")
    return ", ".join(parts) + _beside_stock(document, kept)


def _beside_stock(document: Document, kept: Point) -> str:
    stock = next((point for point in document.points if point.name == STOCK and point.name != kept.name), None)
    if stock is None:
        return ""
    text = f"; {kept.size_bytes / stock.size_bytes:.2f} × the size"
    if kept.speed is not None and stock.speed is not None:
        text += f" and {kept.speed.rtf_cpu / stock.speed.rtf_cpu:.2f} × the CPU time"
    return f"{text} of the usual int8"


def _models(document: Document) -> str:
    rows = (_model_row(point, document.kept) for point in document.points)
    return table(headings(document), rows, numbers=range(2, 11))


def _model_row(point: Point, kept: str) -> str:
    name = f"<strong>{escape(point.name)}</strong> (kept)" if point.name == kept else escape(point.name)
    verdict = escape(point.verdict) + (f": {escape(point.note)}" if point.note else "")
    cells = [size_text(point.size_bytes), *accuracy_cells(point), *speed_cells(point)]
    return f"<tr><th scope='row'>{name}</th><td>{verdict}</td>{''.join(map(number, cells))}</tr>"


# Plots


def _pareto(document: Document) -> Iterator[str]:
    judged = [point for point in document.points if point.accuracy is not None]
    if not judged:
        yield "<section><h3>Size and errors</h3><p class='quiet'>Left out: nothing was decoded.</p></section>"
        return
    metric = document.metric.upper()
    sizes = [point.size_bytes / MIB for point in judged]
    yield _figure("Size and errors", _chart(document, judged, sizes, "size of the graphs, MiB", f"{metric}, %"))
    timed = [point for point in judged if point.speed is not None]
    if timed:
        times = [point.speed.rtf_cpu for point in timed if point.speed]
        yield _figure("Speed and errors", _chart(document, timed, times, "CPU s per audio s", f"{metric}, %"))


def _chart(document: Document, points: Sequence[Point], places: Sequence[float], across: str, up: str) -> str:
    """Each model as a point; the bar is the interval of its difference from the original, hung on the original."""
    base = next((point.accuracy.error_rate for point in points if point.verdict == "original" and point.accuracy), 0.0)
    dots = [_dot(point, place, base) for point, place in zip(points, places, strict=True)]
    groups: dict[str, list[Dot]] = {}
    for point, dot in zip(points, dots, strict=True):
        groups.setdefault(_group(point, document.kept), []).append(dot)
    names = {"original": "the original", "kept": f"kept: {document.kept}", "within": "within the budget",
             "stock": "stock int8", "other": "over the budget, or undecided"}  # fmt: skip
    series = [
        Series(name=names[group], points=tuple(own), style=_STYLES[group] % COLOURS, shape="scatter")
        for group, own in groups.items()
    ]
    references = []
    if document.budget is not None:
        references = [Reference("y", 100 * (base + document.budget), f"budget, +{100 * document.budget:g}")]
    heights = [value for dot in dots for value in (dot.y, dot.low, dot.high) if value is not None]
    y = linear_axis(up, [*heights, *(reference.value for reference in references)], from_zero=False)
    x = linear_axis(across, list(places), from_zero=False)
    return xy_chart(f"{up} against {across}", x, y, series, references)


def _dot(point: Point, place: float, base: float) -> Dot:
    accuracy = point.accuracy
    assert accuracy is not None
    if point.verdict == "original":
        return Dot(place, 100 * accuracy.error_rate)
    return Dot(place, 100 * (base + accuracy.difference), 100 * (base + accuracy.low), 100 * (base + accuracy.high))


def _group(point: Point, kept: str) -> str:
    if point.verdict == "original":
        return "original"
    if point.name == kept:
        return "kept"
    if point.name == STOCK:
        return "stock"
    return "within" if point.verdict in ("within", "behind") else "other"


def _sensitivity(nodes: Sequence[NodeRecord]) -> Iterator[str]:
    measured = [node for node in nodes if any(value > 0 for value in node.divergence.values())]
    if not measured:
        return
    worst = sorted(measured, key=lambda node: -max(node.divergence.values()))[:_MOST_BARS]
    choices = list(dict.fromkeys(choice for node in worst for choice in node.divergence))
    groups = []
    for node in worst:
        bars = [
            Bar(
                name=choice,
                segments=(Segment(choice, max(node.divergence[choice], 0.0), choices.index(choice) % COLOURS),),
                text=f"{node.divergence[choice]:.2g}" + (" ← chosen" if node.choice == choice else ""),
            )
            for choice in choices
            if choice in node.divergence
        ]
        groups.append(BarGroup(label=f"{node.component} {node.name} {node.weight_shape}", bars=tuple(bars)))
    values = [bar.total for group in groups for bar in group.bars]
    axis = linear_axis("divergence of the posteriors, nats per frame", values)
    yield _figure(
        f"The {len(worst)} most sensitive of {len(measured)} nodes, each quantized alone",
        bar_chart("Sensitivity", axis, groups),
    )


def _figure(title: str, svg: str) -> str:
    return f"<section><h3>{escape(title)}</h3><figure>{svg}</figure></section>"


# Tables


def _components(document: Document) -> str:
    if not document.components:
        return "<p class='quiet'>No model was kept.</p>"
    rows = (
        f"<tr><th scope='row'>{escape(component.role)}</th>{number(size_text(component.original_bytes))}"
        f"{number(size_text(component.bytes))}<td>{escape(nodes_text(component))}</td>"
        f"<td>{escape(operators_text(component))}</td></tr>"
        for component in document.components
    )
    return table(["Component", "Before", "After", "Nodes", "Operators"], rows, numbers=(1, 2))


def _nodes(document: Document) -> str:
    choices = sorted({choice for node in document.nodes for choice in node.divergence})
    rows = []
    for node in document.nodes:
        cells = "".join(number(f"{node.divergence[one]:.3g}" if one in node.divergence else "") for one in choices)
        shape = " × ".join(map(str, node.weight_shape))
        rows.append(
            f"<tr><th scope='row'>{escape(f'{node.component} {node.name}')}</th><td>{escape(node.operator)}</td>"
            f"<td>{shape}</td><td>{escape(node.choice)}</td>{cells}</tr>"
        )
    head = ["Node", "Operator", "Weights", "Choice", *(f"divergence, {choice}" for choice in choices)]
    return table(head, rows, numbers=range(4, 4 + len(choices)))


def _facts(document: Document) -> str:
    units = UNIT_NAMES[document.metric]
    facts: dict[str, str] = {
        "Evaluation set": _audio(document.evaluation, units),
        "Calibration": _audio(document.calibration, units),
        "Interval": f"95 %, paired bootstrap over {document.blocks} blocks" if document.blocks else "",
        "Normaliser": document.normaliser,
        "Target": f"{document.target}: {document.why}",
        "Original": f"{document.origin.name} {document.origin.version}, {document.origin.family}, "
        f"licence {document.origin.licence}",
        "Processor": document.processor + _vnni(document.has_vnni),
        "Versions": ", ".join(f"{name} {version}" for name, version in document.versions.items()),
        "Seed": str(document.seed),
    }
    if document.blank_penalty:
        facts["Blank penalty"] = f"{document.blank_penalty:g}, in the graph itself"
    if document.resources is not None:
        used = document.resources
        facts["Took"] = (
            f"{used.wall_s:.0f} s ({used.cpu_s:.0f} CPU s), {size_text(used.peak_memory_bytes)} of memory at most in "
            f"one process, {size_text(used.peak_disk_bytes)} of disk while it worked"
        )
    rows = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in facts.items()
        if value
    )
    return f"<div class='wide'><table class='facts'><tbody>{rows}</tbody></table></div>"


def _audio(audio: AudioSet | None, units: str) -> str:
    if audio is None:
        return ""
    counted = f", {audio.units} {units}" if audio.units else ""
    return f"{audio.source}: {audio.recordings} recordings, {audio.audio_s:.0f} s{counted}"


def _vnni(has_vnni: bool | None) -> str:
    if has_vnni is None:
        return ""
    return " (VNNI)" if has_vnni else " (no VNNI: decoded with exact 8-bit products)"
