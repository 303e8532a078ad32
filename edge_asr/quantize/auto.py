"""``auto`` from beginning to end: yardsticks, search, and which of the accepted models is kept."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace

from edge_asr.engines.ort_streaming import can_run
from edge_asr.errors import ConfigurationError, QuantizationError
from edge_asr.quantize.document import STOCK
from edge_asr.quantize.noise_ear import NoiseEar
from edge_asr.quantize.output import STEPS
from edge_asr.quantize.panel import Panel
from edge_asr.quantize.recipes import PRODUCTS, apply_recipe, kept_components
from edge_asr.quantize.referee import with_speeds
from edge_asr.quantize.search import Search, Searched
from edge_asr.quantize.sensitivity import Comparer, Ear
from edge_asr.quantize.stock import stock_int8
from edge_asr.quantize.table import Result, Table
from edge_asr.quantize.workshop import Made, graph_files

USUAL = "int8"
TIMED = 4
"""Of the accepted models the smallest so many are timed."""


def search(table: Table) -> Result:
    """Find the smallest model within the budget that is no slower than the usual int8.

    Raises:
        EdgeAsrError: The model, the recordings or the machine will not do.
    """
    order, components = table.order, table.workshop.components
    panel = Panel(_ear(table), table.referee())
    stock, complaint = _stock(table)
    usual = table.make(USUAL, apply_recipe("int8", components, order.target, order.options))
    standard = panel.judge(stock) if stock else None
    panel.limit = panel.divergence(usual).harm
    if order.goal == "better" and standard and standard.verdict == "within" and standard.accuracy is not None:
        panel.most_errors = standard.accuracy.errors
    verdict = panel.judge(usual).verdict
    found = Search(
        table.workshop,
        panel.ear,
        order.target,
        panel,
        table.folder / "sensitivity",
        table.progress,
        kept=kept_components(components, order.options),
        measures_time=is_x86() and order.target.name == "x86",
        board_times=order.board_times,
        spare_s=_spare_s(table, panel, stock, usual),
        decode_s=table.decode_s,
    ).run()
    found.assignments[USUAL] = {
        (node.component, node.name): "int8" for node in found.nodes if node.operator in PRODUCTS
    }
    table.weigh()
    accepted = [*found.accepted, *([usual] if verdict == "within" else [])]
    # A model within the budget is better than none, even where none is better than the usual int8.
    accepted = accepted or [*found.behind, *([usual] if verdict == "behind" else [])]
    result = _chosen(table, panel, found, stock, sorted(accepted, key=lambda made: made.graph_bytes))
    return replace(result, notes=(complaint, *result.notes)) if complaint else result


def _stock(table: Table) -> tuple[Made | None, str]:
    """The usual int8; or why there is none to compare with."""
    try:
        return table.make(STOCK, stock_int8(graph_files(table.order.original))), ""
    except QuantizationError as error:
        return None, f"there is no {STOCK} to compare with: {error}"


def is_x86() -> bool:
    """Whether this machine is one."""
    return platform.machine() in ("x86_64", "AMD64")


def smallest_fast_enough(ratios: Mapping[str, float], yardstick: str) -> tuple[str, str]:
    """Which of several accepted models is kept, and what is to be said about it.

    Args:
        ratios: Models in the order of their size, the smallest first, to their CPU time over that of the yardstick.
        yardstick: Its name.
    """
    smallest = next(iter(ratios))
    kept = next((name for name, ratio in ratios.items() if ratio <= 1.0), smallest)
    if kept != smallest:
        return kept, f"{smallest} is smaller but takes {ratios[smallest]:.2f} times the CPU time of {yardstick} here"
    if ratios[kept] > 1.0:
        return kept, f"{kept} takes {ratios[kept]:.2f} times the CPU time of {yardstick} here"
    return kept, ""


def _chosen(table: Table, panel: Panel, found: Searched, stock: Made | None, accepted: list[Made]) -> Result:
    """Of the accepted models, the smallest first, the one to keep."""
    points = panel.points(table.original)
    if not accepted:
        undecided = [point.name for point in points if point.verdict == "undecided"]
        notes = tuple(panel.referee.why_undecided(name) for name in undecided) if panel.referee else ()
        return Result(tuple(points), None, notes, found)
    verdicts = {point.name: point.verdict for point in points}
    candidates = accepted[:TIMED]
    beside = [made for made in (table.original, stock) if made and verdicts[made.name] != "failed"]
    speeds = table.speeds({made.name: made for made in (*beside, *candidates)}.values())
    # What the usual int8 has ruined may be fast for that very reason.
    yardstick = table.original if stock is None or verdicts[stock.name] in ("over", "failed") else stock
    ratios = {made.name: speeds.ratio(made.name, yardstick.name).ratio or 1.0 for made in candidates}
    name, note = smallest_fast_enough(ratios, yardstick.name)
    kept = next(made for made in candidates if made.name == name)
    all_notes = (note, _of_behind(found.behind, kept))
    points = with_speeds(points, speeds, table.original.name)
    return Result(tuple(points), kept, tuple(filter(None, all_notes)), found)


def _of_behind(behind: Sequence[Made], kept: Made) -> str:
    """What to say of models within the budget that err more than the usual int8."""
    if kept in behind:
        return f"{kept.name} has more errors than {STOCK}; no model with fewer was found within the budget"
    smaller = [made for made in behind if made.graph_bytes < kept.graph_bytes]
    if not smaller:
        return ""
    smallest = min(smaller, key=lambda made: made.graph_bytes)
    return f"{smallest.name} is smaller and within the budget, with more errors than {STOCK}; --goal smallest keeps it"


def _ear(table: Table) -> Comparer:
    table.progress.stage("listening with the original", 1)
    if not can_run(table.workshop.family):
        if table.recordings.evaluation is None:
            raise ConfigurationError(
                f"{table.workshop.family.name} models are searched by their errors only; add --eval MANIFEST, or name "
                "a recipe such as int8"
            )
        return NoiseEar(table.workshop.components)
    order = table.order
    compared, others = table.recordings.search_audio(order.original.manifest.sample_rate_hz, order.seed)
    return Ear(table.workshop, compared, others, table.folder / STEPS)


def _spare_s(table: Table, panel: Panel, stock: Made | None, usual: Made) -> float:
    """How much longer a step of our int8 may take without being slower than the usual one."""
    failed = {point.name for point in panel.points(table.original) if point.verdict == "failed"}
    chunk_s = table.order.original.manifest.chunk_ms / 1000
    if stock is None or failed & {stock.name, usual.name} or not chunk_s:
        return 0.0
    speeds = table.speeds((stock, usual))
    return (speeds.rtf_cpu(stock.name) - speeds.rtf_cpu(usual.name)) * chunk_s
