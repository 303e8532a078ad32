from __future__ import annotations

from typing import Any

import pytest

from tools.quantization import comparison, engine_of, figures_of


def point(name: str, size_bytes: int, wer: float, rtf: float) -> dict[str, Any]:
    accuracy = {
        "error_rate": wer, "difference": wer - 0.03, "low": -0.001, "high": 0.004,
        "substitutions": 3, "deletions": 2, "insertions": 1,
    }  # fmt: skip
    return {"name": name, "size_bytes": size_bytes, "accuracy": accuracy, "speed": {"rtf_cpu": rtf}, "nodes": {}}


DOCUMENT = {
    "points": [
        point("float32", 1500, 0.03, 0.03),
        point("stock-int8", 500, 0.031, 0.02),
        point("auto-7", 300, 0.029, 0.015),
    ],
    "kept": "auto-7",
    "origin": {"name": "m", "version": "1"},
    "evaluation": {"units": 2000, "recordings": 400},
    "budget": 0.005,
    "resources": {},
}


def test_the_model_that_was_kept_stands_beside_the_usual_int8():
    figures = figures_of(DOCUMENT)
    assert (figures["stock"]["size_bytes"], figures["stock"]["wer"], figures["stock"]["rtf"]) == (500, 0.031, 0.02)
    assert (figures["auto"]["size_bytes"], figures["auto"]["wer"], figures["auto"]["rtf"]) == (300, 0.029, 0.015)
    assert figures["ratios"] == {"size": 0.6, "rtf": 0.75}


def test_deletions_stand_apart():
    auto = figures_of(DOCUMENT)["auto"]
    assert (auto["substitutions"], auto["deletions"], auto["insertions"]) == (3, 2, 1)
    assert auto["wer_increase"]["high"] == 0.004


def test_a_bench_of_the_model_stands_beside_its_report():
    before, after = ({"wer": {"value": wer}, "rtf_cpu": {"value": rtf}} for wer, rtf in ((0.03, 0.04), (0.029, 0.018)))
    found = comparison(DOCUMENT, before, after)
    assert found["has_wer_of_report"]
    assert found["rtf_to_float32"] == pytest.approx(0.45)
    assert found["rtf_to_float32_of_report"] == pytest.approx(0.5)
    after["wer"]["value"] = 0.0291
    assert not comparison(DOCUMENT, before, after)["has_wer_of_report"]


def test_a_bench_decodes_as_the_report_did():
    document = DOCUMENT | {"engine": {"use_graph": False, "exact_int8": True, "threads": 1}}
    assert engine_of(document) == {"EDGE_ASR_ENGINE_USE_GRAPH": "false", "EDGE_ASR_ENGINE_EXACT_INT8": "true"}
    assert engine_of(DOCUMENT) == {}
