"""The look of the charts: CSS in a light and in a dark scheme."""

from __future__ import annotations

from collections.abc import Sequence

from edge_asr.charts.charts import NEUTRAL, WIDTH

_LIGHT = ("#1f6fd1", "#d1560a", "#0c855a", "#7a4fc4", "#8f6208", "#bf2f7c")
_DARK = ("#6aaeff", "#ff9a5c", "#4fd0a0", "#bfa2ff", "#e2b765", "#ff8fc6")
_DASHES = ("", "7 3", "14 4", "10 3 3 3", "4 4", "14 3 3 3 3 3")


def _variables(colours: Sequence[str]) -> str:
    return "".join(f"--c{index}:{colour};" for index, colour in enumerate(colours))


def _classes() -> str:
    rules = []
    for index, dash in enumerate(_DASHES):
        dashes = f";stroke-dasharray:{dash}" if dash else ""
        rules.append(f".chart .s{index}{{stroke:var(--c{index}){dashes}}}.chart .f{index}{{fill:var(--c{index})}}")
    return "".join(rules)


STYLE = f"""
:root{{{_variables(_LIGHT)}--ink:#1c2026;--quiet:#5b6470;--grid:#e3e6ea;--paper:#ffffff;--alarm:#b3161b}}
@media (prefers-color-scheme:dark){{:root{{{_variables(_DARK)}--ink:#e8ebef;--quiet:#a3adb9;--grid:#343b44;
--paper:#171a1f;--alarm:#ff8a84}}}}
.chart{{display:block;width:100%;max-width:{WIDTH:.0f}px;height:auto;font:12px system-ui,sans-serif}}
.chart path{{fill:none;stroke-width:1.8}}
.chart text{{fill:var(--ink)}}
.chart .grid{{stroke:var(--grid);stroke-width:1}}
.chart .axis{{stroke:var(--quiet);stroke-width:1}}
.chart .tick{{fill:var(--quiet);font-size:11px}}
.chart .title{{fill:var(--quiet)}}
.chart .label{{font-weight:600}}
.chart .middle{{text-anchor:middle}}
.chart .end{{text-anchor:end}}
{_classes()}
.chart path.mark{{stroke:var(--paper);stroke-width:1}}
.chart path.interval{{stroke-width:1.3;stroke-dasharray:none}}
.chart path.reference{{stroke:var(--ink);stroke-width:1.2;stroke-dasharray:4 3}}
.chart text.reference{{font-size:11px;paint-order:stroke;stroke:var(--paper);stroke-width:4px}}
.chart .f{NEUTRAL}{{fill:var(--quiet)}}
.chart .bar{{stroke:var(--paper);stroke-width:1}}
.chart .faded{{opacity:.45}}
.chart path.invalid{{stroke-dasharray:1.5 4}}
.chart path.cross{{stroke-width:2.4;stroke-dasharray:none}}
.chart text.invalid{{fill:var(--alarm)}}
"""
"""CSS of the charts: once on each page that shows any. Also defines the colours ``--ink``, ``--paper``, ``--alarm``…"""
