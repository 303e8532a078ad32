"""A tiny model with two matrix products in its way, and the same one sabotaged: exact in float32, ruined by int8."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import soundfile
from onnx import helper, numpy_helper

from edge_asr.manifest import MANIFEST_FILE, ModelManifest, format_manifest
from tests.support.syllables import syllables
from tests.support.tiny_models import tiny_manifest, write_lstm_transducer

HIDDEN = 64
RATE_HZ = 16_000
WORDS = ("▁left", "▁right", "▁up", "▁down")
SPOKEN = "left right up down left right up down"
"""What the models say to 0.3 s of noise, and a little more to a little more."""


def write_model(directory: Path, *, sabotaged: bool = False) -> ModelManifest:
    """An LSTM transducer whose loudness passes two products before it is looked at.

    Args:
        directory: Where the files go.
        sabotaged: Whether the first column of the first product is a million times larger, and the row of the second
            product that reads it a million times smaller: the two cancel out, and nothing is left of the other columns
            where activations have one scale together.
    """
    files = write_lstm_transducer(directory, tokens=("<blk>", *WORDS))
    insert_products(files["encoder"], sabotaged=sabotaged)
    manifest = tiny_manifest("lstm-transducer", files, name="sabotaged" if sabotaged else "sound")
    (directory / MANIFEST_FILE).write_text(format_manifest(manifest))
    return manifest


def write_recordings(folder: Path, count: int, text: str = SPOKEN) -> Path:
    """A manifest of noises like syllables, each between silences."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["audio\ttext"]
    for number in range(count):
        noise = syllables(round(0.3 * RATE_HZ), RATE_HZ, 0.1, seed=number)
        silence = np.zeros(round(0.5 * RATE_HZ))
        soundfile.write(folder / f"{number}.flac", np.concatenate((silence, noise, silence)), RATE_HZ)
        lines.append(f"{number}.flac\t{text}")
    path = folder / "manifest.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


def insert_products(path: Path, *, sabotaged: bool = False) -> None:
    """Let what a tiny model hears pass two products that give it back as it was.

    Args:
        path: Of the graph that computes ``loudness``.
        sabotaged: As for :func:`write_model`.
    """
    model = onnx.load(str(path))
    first = np.full((1, HIDDEN), 1.0, np.float32)
    second = np.full((HIDDEN, 1), 1.0 / HIDDEN, np.float32)
    if sabotaged:
        first[0, 0] *= 1e6
        second[0, 0] /= 1e6
    position = 1 + next(index for index, node in enumerate(model.graph.node) if "loudness" in node.output)
    for node in model.graph.node:
        node.input[:] = ["passed" if name == "loudness" else name for name in node.input]
    products = [
        helper.make_node("MatMul", ["loudness", "first"], ["hidden"], name="/first/MatMul"),
        helper.make_node("MatMul", ["hidden", "second"], ["passed"], name="/second/MatMul"),
    ]
    for node in reversed(products):
        model.graph.node.insert(position, node)
    model.graph.initializer.extend([numpy_helper.from_array(first, "first"), numpy_helper.from_array(second, "second")])
    onnx.save(model, str(path))
