"""Graphs of a few nodes for what reads and rewrites graphs; their weights come from a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
FEATURES = 64
OUTPUTS = 48
METADATA = {"model_type": "zipformer2", "T": "45"}

Array = npt.NDArray[Any]


def weights(*shape: int, seed: int = 0) -> npt.NDArray[np.float32]:
    values = np.random.default_rng(seed).standard_normal(shape) / np.sqrt(shape[0])
    return np.asarray(values, np.float32)


def frames(count: int = 7, width: int = FEATURES, seed: int = 1) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((1, count, width)).astype(np.float32)


def graph_of(
    nodes: Sequence[onnx.NodeProto],
    constants: Mapping[str, Array],
    *,
    inputs: Mapping[str, Sequence[int | str]] | None = None,
    outputs: Sequence[str] = ("y",),
    opset: int = OPSET,
    ir_version: int = IR_VERSION,
    metadata: Mapping[str, str] | None = None,
    integers: Sequence[str] = (),
) -> onnx.ModelProto:
    """A model; inputs are floats (``x``: batch, frames, features by default) but for those named in ``integers``."""
    graph = helper.make_graph(
        list(nodes),
        "tiny",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64 if name in integers else TensorProto.FLOAT, shape)
            for name, shape in (inputs or {"x": ["N", "frames", FEATURES]}).items()
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)
    helper.set_model_props(model, dict(METADATA if metadata is None else metadata))
    return model


def two_products(**options: object) -> onnx.ModelProto:
    """``y = relu(x a) b``; both products have names."""
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["h"], "first"),
        helper.make_node("Relu", ["h"], ["r"], "relu"),
        helper.make_node("MatMul", ["r", "b"], ["y"], "second"),
    ]
    return graph_of(nodes, {"a": weights(FEATURES, 96), "b": weights(96, OUTPUTS, seed=2)}, **options)  # type: ignore[arg-type]


def run(model: onnx.ModelProto, inputs: Mapping[str, Array] | None = None) -> list[npt.NDArray[np.float32]]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, dict(inputs or {"x": frames()})))


def relative_error(found: Array, expected: Array) -> float:
    """Root of the mean squared error, as a share of the deviation of what was expected."""
    return float(np.sqrt(np.mean(np.square(found - expected))) / np.std(expected))
