"""``int8``: 8-bit weights, activations quantized as they come, an integer product.

The pattern is the one that ONNX Runtime's own ``quantize_dynamic`` writes and its optimiser fuses: the activations'
quantization, ``MatMulInteger``, and the product of both scales. It is written here node by node, because a search makes
hundreds of graphs that differ in one node, because weights that nodes share stay shared, and because what has been done
can be counted. A test holds it to the same integers and scales.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper

from edge_asr.quantize.blocks import SMALLEST
from edge_asr.quantize.editing import Editor
from edge_asr.quantize.products import Matrix, Product, matrix_of

LARGEST = 127
"""Symmetric: -127 to 127, so that nothing needs a zero point."""


def integer_product(product: Product, editor: Editor) -> Iterator[onnx.NodeProto]:
    """Nodes that take the place of the product."""
    integers, scale, zero = _weights(product, editor)
    name, source = product.name, product.input
    quantized, is_first = editor.once_here(f"{source}/int8")
    source_scale, source_zero = f"{quantized}/scale", f"{quantized}/zero_point"
    yield from product.before
    if is_first:
        outputs = [quantized, source_scale, source_zero]
        yield helper.make_node("DynamicQuantizeLinear", [source], outputs, quantized)
    total, as_float, scales = f"{product.output}/int32", f"{product.output}/float", f"{product.output}/scales"
    yield helper.make_node("MatMulInteger", [quantized, integers, source_zero, zero], [total], f"{name}/int8")
    yield helper.make_node("Cast", [total], [as_float], f"{name}/float", to=onnx.TensorProto.FLOAT)
    yield helper.make_node("Mul", [source_scale, scale], [scales], f"{name}/scales")
    yield helper.make_node("Mul", [as_float, scales], [product.output], f"{name}/scaled")
    yield from product.after


def quantize_columns(matrix: Matrix) -> tuple[npt.NDArray[np.int8], Matrix]:
    """Integers (rows, columns) and scales (columns,), with ``matrix ≈ integers * scales``."""
    largest = np.abs(matrix).max(axis=0)
    # A column of zeros, or of numbers that are hardly more, has no scale of its own; any does.
    scales = np.where(largest >= LARGEST * SMALLEST, largest / LARGEST, 1).astype(np.float32)
    integers: npt.NDArray[np.int8] = np.clip(np.rint(matrix / scales), -LARGEST, LARGEST).astype(np.int8)
    return integers, scales


def _weights(product: Product, editor: Editor) -> tuple[str, str, str]:
    """Names of integers, scales and zero points; made when first asked for."""
    tensor = editor.weights[product.weight]
    quantized = cache(lambda: quantize_columns(matrix_of(tensor, product.layout)))
    base = f"{product.weight}/{product.layout}"
    return (
        editor.add(f"{base}/int8", lambda: quantized()[0]),
        editor.add(f"{base}/scale", lambda: quantized()[1]),
        editor.add(f"{base}/zero_point", lambda: np.zeros(len(quantized()[1]), np.int8)),
    )
