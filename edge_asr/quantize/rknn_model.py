"""What sherpa-onnx wants of a ``.rknn`` file: the encoder's metadata in one string, and inputs it can fill."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from edge_asr.errors import ModelUnsupported
from edge_asr.families import FAMILIES
from edge_asr.quantize.recorded_steps import RecordedSteps

LONGEST_STRING = 1023
"""Characters; sherpa-onnx reads it into 1,024 bytes."""


def custom_string(metadata: Mapping[str, str], family: str, role: str) -> str:
    """``key=value;key=value`` as sherpa-onnx splits it; empty for graphs it reads nothing from.

    Raises:
        ModelUnsupported: A value would be split wrongly, one is missing, or all are too long.
    """
    keys = FAMILIES[family].metadata.get(role, ()) if role in ("encoder", "model") else ()
    if not keys:
        return ""
    wanted = ("model_type", *(key for key in keys if key != "model_type"))
    missing = [key for key in wanted if key not in metadata]
    if missing:
        raise ModelUnsupported(role, f"its metadata lack {', '.join(missing)}, which sherpa-onnx reads from the .rknn")
    strange = [key for key in wanted if "=" in metadata[key] or ";" in metadata[key]]
    if strange:
        raise ModelUnsupported(role, f"its metadata {', '.join(strange)} hold “=” or “;”, which divide them in a .rknn")
    text = ";".join(f"{key}={metadata[key]}" for key in wanted)
    if len(text) > LONGEST_STRING:
        raise ModelUnsupported(role, f"its metadata take {len(text)} characters; a .rknn holds {LONGEST_STRING}")
    return text


def write_dataset(folder: Path, role: str, names: tuple[str, ...], steps: RecordedSteps) -> Path:
    """Calibration inputs as the toolkit reads them: a file for each, a line for each step.

    Args:
        folder: Where everything is put.
        role: Of the graph.
        names: Its inputs, in order.
        steps: Of the float model, run free.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, inputs in enumerate(steps.read(role)):
        paths = []
        for place, name in enumerate(names):
            path = folder / f"{role}-{number}-{place}.npy"
            np.save(path, inputs[name])
            paths.append(str(path))
        lines.append(" ".join(paths))
    dataset = folder / f"{role}.txt"
    dataset.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return dataset
