from __future__ import annotations

from typing import Any

from tools.quantization import figures_of


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
