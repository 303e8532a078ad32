"""What spinning threads cost: CPU seconds at live pace, without and with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edge_asr.bench.document import Result
from edge_asr.bench.figure_text import quantity
from edge_asr.bench.labels import common_label, distinct_labels
from edge_asr.bench.plots.plot import Plot, Section, by_model, marks, portions
from edge_asr.bench.plots.sweeps import alike
from edge_asr.charts.axes import linear_axis
from edge_asr.charts.charts import Bar, BarGroup, Segment, bar_chart

_TITLE = "What spinning costs at live pace"
_GROUPS = 8
"""On one chart."""
_MISSING = "Left out: no paced configuration was run both with and without spinning threads."

_Pair = tuple[Result, Result]
"""The same configuration with spinning off and on."""


def spinning_section(results: Sequence[Result]) -> Section:
    """Each paced configuration that was run both ways, with the ratio."""
    return Section(_TITLE, tuple(_plots(results)), _MISSING)


def _plots(results: Sequence[Result]) -> Iterator[Plot]:
    for own in by_model(results):
        pairs = [pair for line in alike(own, "allow_spinning") if (pair := _pair(line))]
        for chosen in portions(pairs, _GROUPS):
            yield _plot(chosen)


def _pair(line: Sequence[Result]) -> _Pair | None:
    found = {result.configuration.allow_spinning: result for result in line if _live_cpu(result) is not None}
    return (found[False], found[True]) if True in found and False in found else None


def _live_cpu(result: Result) -> float | None:
    figure = result.figures.get("rtf_cpu_live")
    return figure.value if figure else None


def _plot(pairs: Sequence[_Pair]) -> Plot:
    configurations = [off.configuration for off, _ in pairs]
    labels = distinct_labels(configurations)
    groups = [_group(pair, label) for pair, label in zip(pairs, labels, strict=True)]
    axis = linear_axis("CPU seconds per audio second", [bar.total for group in groups for bar in group.bars])
    invalid = marks([result for pair in pairs for result in pair])
    return Plot(common_label(configurations), bar_chart(_TITLE, axis, groups), invalid)


def _group(pair: _Pair, label: str) -> BarGroup:
    off, on = (_live_cpu(result) or 0.0 for result in pair)
    ratio = f", {quantity(on / off, 'ratio')} ×" if off > 0 else ""
    bars = (
        Bar(name="off", segments=(Segment("spinning off", off, 0),), text=quantity(off, "ratio")),
        Bar(name="on", segments=(Segment("spinning on", on, 1),), text=quantity(on, "ratio") + ratio),
    )
    return BarGroup(label=label, bars=bars, is_invalid=not all(result.is_valid for result in pair))
