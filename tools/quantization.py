"""What ``edge-asr quantize`` makes of the starter model, beside the usual int8 in the same run.

Speech: voices that the model was never trained on, made by flite and espeak-ng (``apt install flite espeak-ng``) unless
``--eval`` names a manifest.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MODEL = "starter-en-fp32"
DOCUMENT = "quantization.json"
BUDGET = "0.5%"
WORDS = 20_000
STARTER = Path(__file__).parent / "starter"
SPEECH_HOURS = {"flite": 1.6, "espeak": 1.6}
"""Enough for :data:`WORDS`."""
TEXT_SETTINGS = ("use_graph", "exact_int8")
"""Of the engine; a bench that differs in them hears other words."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def measure_quantization(options: argparse.Namespace) -> dict[str, Any]:
    """Search, and measure what was found again with the bench."""
    manifest = options.eval or make_evaluation_set(Path(tempfile.gettempdir()) / "edge-asr-evaluation")
    with tempfile.TemporaryDirectory(prefix="edge-asr-quality-") as folder:
        output = options.quantized or Path(folder) / "auto"
        if not (output / DOCUMENT).is_file():
            command = ["quantize", MODEL, "-o", str(output), "--eval", str(manifest), "--max-wer-increase", BUDGET]
            _edge_asr(command, accepted=(0,), variables={})
        document = json.loads((output / DOCUMENT).read_text(encoding="utf-8"))
        return figures_of(document) | {"bench": _bench(output, document, Path(folder))}


def figures_of(document: dict[str, Any]) -> dict[str, Any]:
    """The figures of a search: the usual int8, what was found, and how they compare."""
    points = {point["name"]: point for point in document["points"]}
    stock, auto = points["stock-int8"], points[document["kept"]]
    return {
        "model": f"{document['origin']['name']} {document['origin']['version']}",
        "words": document["evaluation"]["units"],
        "recordings": document["evaluation"]["recordings"],
        "budget": document["budget"],
        "float32": _figures(points["float32"]),
        "stock": _figures(stock),
        "auto": _figures(auto),
        "ratios": {
            "size": auto["size_bytes"] / stock["size_bytes"],
            "rtf": auto["speed"]["rtf_cpu"] / stock["speed"]["rtf_cpu"],
        },
        "rtf_to_float32": auto["speed"]["rtf_cpu"] / points["float32"]["speed"]["rtf_cpu"],
        "kept": auto["name"],
        "nodes": auto["nodes"],
        "took": document["resources"],
    }


def make_evaluation_set(folder: Path) -> Path:
    """Held-out speech as files; made once."""
    manifest = folder / "manifest.tsv"
    if manifest.is_file():
        return manifest
    shards = folder / "shards"
    shards.mkdir(parents=True, exist_ok=True)
    for engine, hours in SPEECH_HOURS.items():
        command = ["make_data.py", str(shards), "--assets", str(folder), "--engine", engine, "--part", "test"]
        _starter([*command, "--hours", str(hours)])
    _starter(["evaluation_set.py", str(shards), str(folder), "--words", str(WORDS)])
    return manifest


def _figures(point: dict[str, Any]) -> dict[str, Any]:
    accuracy, speed = point["accuracy"], point["speed"]
    return {
        "size_bytes": point["size_bytes"],
        "wer": accuracy["error_rate"],
        "rtf": speed["rtf_cpu"],
        "wer_increase": {
            key: accuracy[name] for key, name in (("value", "difference"), ("low", "low"), ("high", "high"))
        },
        "substitutions": accuracy["substitutions"],
        "deletions": accuracy["deletions"],
        "insertions": accuracy["insertions"],
    }


def _bench(model: Path, document: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The same model and its original by `edge-asr bench`, on all the recordings that judged, beside the report."""
    path = folder / "bench.json"
    command = ["bench", MODEL, str(model), "--audio", str(model / DOCUMENT), "--mode", "throughput", "--threads", "1"]
    # 6: the machine was disturbed
    _edge_asr([*command, "--repeat", "1", "--json", str(path)], (0, 6), engine_of(document))
    results = json.loads(path.read_text(encoding="utf-8"))["results"]
    return comparison(document, *(result["figures"] for result in results))


def engine_of(document: dict[str, Any]) -> dict[str, str]:
    """The settings that decide about texts, as variables of the environment."""
    engine = document.get("engine", {})
    return {f"EDGE_ASR_ENGINE_{key.upper()}": str(engine[key]).lower() for key in TEXT_SETTINGS if key in engine}


def comparison(document: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What the bench says of original and model, and what the report says."""
    report = figures_of(document)
    return {
        "wer": after["wer"]["value"],
        "wer_of_float32": before["wer"]["value"],
        "has_wer_of_report": after["wer"]["value"] == report["auto"]["wer"],
        "rtf": after["rtf_cpu"]["value"],
        "rtf_to_float32": after["rtf_cpu"]["value"] / before["rtf_cpu"]["value"],
        "rtf_to_float32_of_report": report["rtf_to_float32"],
    }


def _edge_asr(words: list[str], accepted: tuple[int, ...], variables: dict[str, str]) -> None:
    command = [sys.executable, "-m", "edge_asr", *words]
    ran = subprocess.run(command, stdout=sys.stderr, env=os.environ | ONE_THREAD | variables, check=False)
    if ran.returncode not in accepted:
        sys.exit(f"edge-asr {words[0]} left with {ran.returncode}")


def _starter(words: list[str]) -> None:
    ran = subprocess.run([sys.executable, *words], cwd=STARTER, stdout=sys.stderr, check=False)
    if ran.returncode:
        sys.exit(f"tools/starter/{words[0]} left with {ran.returncode}; are flite and espeak-ng installed?")
