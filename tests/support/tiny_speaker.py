"""Speaker models of a kilobyte: the embedding is the mean of the features, so that a pitch is a voice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper

from edge_asr.manifest import ModelManifest, format_manifest
from tests.support.tiny_models import tiny_manifest

RATE_HZ = 16_000
BINS = 80
KEYS = {
    "framework": "3d-speaker",
    "language": "English",
    "sample_rate": str(RATE_HZ),
    "output_dim": str(BINS),
    "normalize_samples": "1",
}
NEMO_KEYS = {
    "framework": "nemo",
    "language": "English",
    "sample_rate": str(RATE_HZ),
    "output_dim": str(BINS),
    "feat_dim": str(BINS),
    "window_size_ms": "25",
    "window_stride_ms": "10",
    "feature_normalize_type": "",
    "window_type": "hann",
}

MANIFEST = tiny_manifest("speaker-embedding", {"model": Path("voices.onnx")}, name="tiny-speaker")


def write_speaker(directory: Path, keys: Mapping[str, str] = KEYS, size: int = BINS) -> Path:
    """Fill a directory as 3D-Speaker's and WeSpeaker's models are: ``x`` (N, frames, 80) to ``embedding`` (N, 80)."""
    mean = helper.make_node("ReduceMean", ["x"], ["mean"], axes=[1], keepdims=0)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "T", BINS])]
    return _save(directory, [mean, *_above_the_mean()], inputs, [_embedding(size)], keys)


def write_nemo_speaker(directory: Path, keys: Mapping[str, str] = NEMO_KEYS) -> Path:
    """Fill a directory as NeMo's models are: features lie across, there is a length, and logits come first."""
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["mean"], axes=[2], keepdims=0),
        *_above_the_mean(),
        helper.make_node("Cast", ["length"], ["logits"], to=TensorProto.FLOAT),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", BINS, "T"]),
        helper.make_tensor_value_info("length", TensorProto.INT64, ["N"]),
    ]
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N"])
    return _save(directory, nodes, inputs, [logits, _embedding(BINS)], keys)


def write_installed(directory: Path) -> ModelManifest:
    """Fill a directory of a store."""
    write_speaker(directory)
    (directory / "manifest.toml").write_text(format_manifest(MANIFEST), encoding="utf-8")
    return MANIFEST


def voice(pitch_hz: float, seconds: float = 1.5, seed: int = 0) -> npt.NDArray[np.float32]:
    """Someone with this pitch says something: a tone with its overtones, and a little noise."""
    at_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    tone = sum(np.sin(2 * np.pi * pitch_hz * number * at_s) / number for number in range(1, 6))
    noise = np.random.default_rng(seed).normal(0, 0.01, len(at_s))
    return np.asarray(0.1 * tone + noise, np.float32)


def _above_the_mean() -> list[onnx.NodeProto]:
    """Loudness moves all features alike, and is no voice."""
    return [
        helper.make_node("ReduceMean", ["mean"], ["level"], axes=[1], keepdims=1),
        helper.make_node("Sub", ["mean", "level"], ["embedding"]),
    ]


def _embedding(size: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["N", size])


def _save(
    directory: Path,
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto],
    keys: Mapping[str, str],
) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    graph = helper.make_graph(nodes, "voices", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, dict(keys))
    onnx.save(model, directory / "voices.onnx")
    return directory
