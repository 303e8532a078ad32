"""Graphs in memory as ONNX Runtime takes them: as bytes, or as files where a protobuf message cannot hold them."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import onnx

from edge_asr.engines.ort_session import Graph
from edge_asr.quantize.save import EXTERNAL_FROM_BYTES, save_model
from edge_asr.quantize.walk import model_bytes, without_weights


def source_in(folder: Path, role: str, model: onnx.ModelProto) -> Path | bytes:
    """The serialized graph, the same bytes each time; a large one is written into the folder instead.

    Raises:
        DiskFull: It does not fit.
    """
    if model_bytes(model) < EXTERNAL_FROM_BYTES:
        content: bytes = model.SerializeToString(deterministic=True)
        return content
    folder.mkdir(parents=True, exist_ok=True)
    return save_model(model, folder / f"{role}.onnx", external_from_bytes=EXTERNAL_FROM_BYTES)[0]


def digest_of(model: onnx.ModelProto) -> bytes:
    """SHA-256 of a graph and its weights, however large."""
    digest = hashlib.sha256(without_weights(model).SerializeToString(deterministic=True))
    for tensor in model.graph.initializer:
        digest.update(tensor.SerializeToString(deterministic=True))
    return digest.digest()


def loaded(model: onnx.ModelProto, name: str) -> Graph:
    """The graph in a session on one thread.

    Raises:
        ModelDamaged: ONNX Runtime cannot load it.
        DiskFull: It is large, and the temporary folder too small for it.
    """
    with tempfile.TemporaryDirectory(prefix="edge-asr-quantize-") as folder:
        return Graph(source_in(Path(folder), name, model), name, 1)
