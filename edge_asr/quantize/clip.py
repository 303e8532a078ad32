"""Weights beyond what 8 bits of the column are best spent on are clipped, before they are quantized."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from edge_asr.quantize.graph import Prepared

SHARES = np.linspace(0.5, 1.0, 26)
"""Of a column's largest weight; the one with the smallest squared error is where it is clipped."""

LEVELS = 127

Matrix = npt.NDArray[np.float32]


def clipped(prepared: Prepared, nodes: Collection[str]) -> Prepared:
    """A graph whose products have their columns clipped to where rounding to 8 bits errs least.

    Args:
        prepared: Not changed.
        nodes: Products to look at.
    """
    weights = {tensor.name: tensor for tensor in prepared.model.graph.initializer}
    names = {
        node.input[1]
        for node in prepared.model.graph.node
        if node.name in nodes and node.op_type == "MatMul" and node.input[1] in weights
    }
    model = onnx.ModelProto()
    model.CopyFrom(prepared.model)
    for tensor in model.graph.initializer:
        if tensor.name in names:
            matrix = clip_columns(numpy_helper.to_array(tensor))
            tensor.CopyFrom(numpy_helper.from_array(matrix, tensor.name))
    return replace(prepared, model=model)


def clip_columns(matrix: Matrix) -> Matrix:
    """The matrix (rows, columns) with each column clipped at its best."""
    largest = np.abs(matrix).max(axis=0)
    best = largest.copy()
    least = _error(matrix, largest)
    for share in SHARES[:-1]:
        error = _error(matrix, share * largest)
        is_better = error < least
        best[is_better] = (share * largest)[is_better]
        least = np.minimum(error, least)
    return np.clip(matrix, -best, best).astype(np.float32)


def _error(matrix: Matrix, bound: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Squared error of each column when rounded to steps of ``bound / 127``."""
    step = np.where(bound > 0, bound / LEVELS, 1.0)
    rounded = np.clip(np.rint(matrix / step), -LEVELS, LEVELS) * step
    error: npt.NDArray[np.floating] = np.square(matrix - rounded).sum(axis=0)
    return error
