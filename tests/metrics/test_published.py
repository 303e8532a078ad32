"""What is published about metrics: the table in the docs, the dashboard and the alert rules name what there is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from edge_asr.metrics.exposition import new_registry
from edge_asr.metrics.instruments import Instruments

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "daemon-metrics.md"
DASHBOARD = ROOT / "packaging" / "grafana" / "edge-asr.json"
RULES = ROOT / "packaging" / "prometheus" / "edge-asr-rules.yml"

_NAME = re.compile(r"\bedge_asr_[a-z0-9_]+")
_LABELS = re.compile(r"[{,]\s*([a-z_]+)\s*=~?")
_PARTS = ("_bucket", "_sum", "_count")


@pytest.fixture(scope="module")
def families() -> list[Any]:
    registry = new_registry()
    Instruments(registry)
    return list(registry.collect())


def series(family: Any) -> set[str]:
    """Names under which a family is exposed."""
    if family.type == "histogram":
        return {f"{family.name}{part}" for part in _PARTS}
    return {f"{family.name}_total" if family.type == "counter" else family.name}


def expressions(node: Any) -> Iterator[str]:
    """Every expression of a dashboard, the queries of its variables too."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("expr", "query") and isinstance(value, str):
                yield value
            else:
                yield from expressions(value)
    elif isinstance(node, list):
        for value in node:
            yield from expressions(value)


def test_the_table_in_the_docs_is_that_of_the_code(families: list[Any]) -> None:
    described = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    expected = [
        f"| `{family.name}{'_total' if family.type == 'counter' else ''}` | {family.type} | {family.documentation} |"
        for family in families
    ]
    assert described == expected


def test_every_expression_of_the_dashboard_uses_metrics_that_exist(families: list[Any]) -> None:
    known = set().union(*map(series, families))
    used = {
        name for text in expressions(json.loads(DASHBOARD.read_text(encoding="utf-8"))) for name in _NAME.findall(text)
    }
    assert used <= known
    assert used


def test_every_metric_is_on_the_dashboard(families: list[Any]) -> None:
    text = DASHBOARD.read_text(encoding="utf-8")
    missing = [family.name for family in families if family.name not in text]
    assert missing == ["edge_asr_segments", "edge_asr_second_passes", "edge_asr_replaced_samples"]


def test_panels_do_not_lie_on_one_another() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells


def test_every_alert_uses_metrics_that_exist_and_says_what_to_do(families: list[Any]) -> None:
    known = set().union(*map(series, families)) | {family.name for family in families}
    text = RULES.read_text(encoding="utf-8")
    alerts = text.split("- alert: ")[1:]
    assert len(alerts) == len({alert.split("\n")[0] for alert in alerts}) >= 6
    for alert in alerts:
        used = set(_NAME.findall(alert))
        assert used or "up{" in alert  # Prometheus's own
        assert used <= known
        assert "description:" in alert
    assert set(_LABELS.findall(text.replace("labels: {", ""))) <= {"reason", "code", "job"}
