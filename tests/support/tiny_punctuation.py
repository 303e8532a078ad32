"""A punctuation model of two kilobytes: a capital for the first word, a full stop behind the last."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edge_asr.manifest import ModelFile, ModelManifest, ModelSource

LABELS = {"COMMA": "1", "PERIOD": "2", "QUESTION": "3", "UPPER": "1", "CAP": "2", "MIX_CASE": "3"}

PIECES = ("<unk>", "<s>", "</s>", "▁", *"abcdefghijklmnopqrstuvwxyz'")

MANIFEST = ModelManifest(
    name="tiny-punctuation",
    version="1",
    family="punctuation-cnn-bilstm",
    languages=("en",),
    sample_rate_hz=16_000,
    chunk_ms=0,
    precision="fp32",
    files={"model": ModelFile(path="model.onnx"), "bpe": ModelFile(path="bpe.vocab")},
    licence="Apache-2.0",
    source=ModelSource(kind="local"),
)


def write_punctuation(directory: Path, labels: Mapping[str, str] = LABELS, vocabulary: str | None = None) -> Path:
    """Fill a directory; returns it."""
    directory.mkdir(parents=True, exist_ok=True)
    model = helper.make_model(_graph(), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, dict(labels))
    onnx.save(model, directory / "model.onnx")
    listed = "".join(f"{piece}\t{-number}\n" for number, piece in enumerate(PIECES))
    (directory / "bpe.vocab").write_text(listed if vocabulary is None else vocabulary, encoding="utf-8")
    return directory


def _graph() -> onnx.GraphProto:
    """A row of results for each word: the valid pieces but the first and the last, which are the sentence's ends."""
    nodes = [
        helper.make_node("NonZero", ["valid"], ["valid_at"]),
        helper.make_node("Gather", ["valid_at", "columns"], ["at"], axis=0),
        helper.make_node("Slice", ["at", "one", "minus_one"], ["words"]),
        helper.make_node("ReduceMax", ["words"], ["last"], keepdims=1),
        *_rows_where("one", "capital", "case_0"),
        *_rows_where("last", "period", "punctuation_0"),
        *_used("ids", "lengths"),
        helper.make_node("Add", ["case_0", "nothing"], ["case"]),
        helper.make_node("Add", ["punctuation_0", "nothing"], ["punctuation"]),
    ]
    values: dict[str, object] = {
        "columns": np.int64(1),
        "one": np.array([1], np.int64),
        "minus_one": np.array([-1], np.int64),
        "capital": np.array([[0, 0, 9, 0]], np.float32),
        "period": np.array([[0, 0, 9, 0]], np.float32),
        "no_label": np.array([[1, 0, 0, 0]], np.float32),
        "zero": np.float32(0),
    }
    return helper.make_graph(
        nodes,
        "punctuation",
        [
            helper.make_tensor_value_info("ids", TensorProto.INT32, ["N", 200]),
            helper.make_tensor_value_info("valid", TensorProto.INT32, ["N", 200]),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["N"]),
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["T", 4]) for name in ("case", "punctuation")],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()],
    )


def _rows_where(position: str, label: str, result: str) -> list[onnx.NodeProto]:
    return [
        helper.make_node("Equal", ["words", position], [f"{result}_is"]),
        helper.make_node("Cast", [f"{result}_is"], [f"{result}_as"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", [f"{result}_as", "one"], [f"{result}_column"]),
        helper.make_node("Mul", [f"{result}_column", label], [f"{result}_label"]),
        helper.make_node("Add", [f"{result}_label", "no_label"], [result]),
    ]


def _used(first: str, second: str) -> list[onnx.NodeProto]:
    """Inputs that change nothing; without a use they would be taken out of the graph."""
    return [
        helper.make_node("ReduceSum", [first], ["sum_0"], keepdims=0),
        helper.make_node("ReduceSum", [second], ["sum_1"], keepdims=0),
        helper.make_node("Add", ["sum_0", "sum_1"], ["sum"]),
        helper.make_node("Cast", ["sum"], ["sum_as"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["sum_as", "zero"], ["nothing"]),
    ]
