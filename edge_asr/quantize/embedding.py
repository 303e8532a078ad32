"""``int8`` for an embedding table: a scale for each row, and only the rows that are looked up are turned to floats."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edge_asr.quantize.editing import Editor
from edge_asr.quantize.integer_product import quantize_columns
from edge_asr.quantize.products import Weights, weight_name
from edge_asr.quantize.walk import attribute_of

LEAST_ROWS = 16
LEAST_WIDTH = 8
"""Smaller tables are shapes and masks, not embeddings."""


def is_embedding(node: onnx.NodeProto, weights: Weights) -> bool:
    """Whether the node looks up rows of a constant float table."""
    name = weight_name(node, weights) if node.op_type == "Gather" else ""
    if not name or attribute_of(node, "axis", 0) != 0:
        return False
    dims = weights[name].dims
    return len(dims) == 2 and dims[0] >= LEAST_ROWS and dims[1] >= LEAST_WIDTH


def integer_embedding(node: onnx.NodeProto, editor: Editor) -> Iterator[onnx.NodeProto]:
    """Nodes that take the place of the look-up."""
    table, rows, output = node.input[0], node.input[1], node.output[0]

    columns = numpy_helper.to_array(editor.weights[table]).T
    quantized = cache(lambda: quantize_columns(columns))
    integers = editor.add(f"{table}/rows/int8", lambda: np.ascontiguousarray(quantized()[0].T))
    scales = editor.add(f"{table}/rows/scale", lambda: quantized()[1][:, None])
    small, as_float, scale = f"{output}/int8", f"{output}/float", f"{output}/scale"
    yield helper.make_node("Gather", [integers, rows], [small], f"{node.name}/int8", axis=0)
    yield helper.make_node("Gather", [scales, rows], [scale], f"{node.name}/scale", axis=0)
    yield helper.make_node("Cast", [small], [as_float], f"{node.name}/float", to=onnx.TensorProto.FLOAT)
    yield helper.make_node("Mul", [as_float, scale], [output], f"{node.name}/scaled")
