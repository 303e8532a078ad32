"""Nodes that multiply with a constant matrix, whatever they are called.

``MatMul`` and ``Gemm`` are matrix products, and so is a pointwise ``Conv``: one whose kernel is a single place
multiplies the channels of each frame with its weights. Where one of them is to be quantized it is rewritten as a plain
product first, which is exact, because the fast integer kernels exist for products only. A convolution that stays in
float32 stays a convolution: turning its input about would cost time and gain nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from edge_asr.quantize.walk import STANDARD_DOMAINS, attribute_of

Weights = Mapping[str, onnx.TensorProto]
"""Every initializer of a model, by name."""
Matrix = npt.NDArray[np.float32]

PRODUCTS = ("MatMul", "Gemm", "Conv")


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """``output = input x matrix``, with what surrounds it."""

    name: str
    """Of the node that it was."""
    input: str
    """Name of a tensor (…, rows)."""
    output: str
    """Name of a tensor (…, columns)."""
    weight: str
    """Name of the initializer."""
    layout: str
    """How the initializer has to be turned to be (rows, columns): ``plain``, ``transposed`` or ``kernel``."""
    before: tuple[onnx.NodeProto, ...] = ()
    after: tuple[onnx.NodeProto, ...] = ()


def weight_name(node: onnx.NodeProto, weights: Weights) -> str:
    """The constant float32 weights that the node multiplies with or looks up; empty when there are none."""
    index = 0 if node.op_type == "Gather" else 1
    if node.domain not in STANDARD_DOMAINS or len(node.input) <= index:
        return ""
    tensor = weights.get(node.input[index])
    return tensor.name if tensor is not None and tensor.data_type == onnx.TensorProto.FLOAT else ""


def is_product(node: onnx.NodeProto, weights: Weights) -> bool:
    """Whether :func:`as_product` can rewrite the node."""
    name = weight_name(node, weights)
    if not name:
        return False
    dims = list(weights[name].dims)
    if node.op_type == "MatMul":
        return len(dims) == 2
    if node.op_type == "Gemm":
        return len(dims) == 2 and all(attribute_of(node, *entry) == entry[1] for entry in _PLAIN_GEMM)
    return node.op_type == "Conv" and _is_pointwise(node, dims)


def as_product(node: onnx.NodeProto, weights: Weights) -> Product:
    """The node as a product; :func:`is_product` has said that it is one."""
    if node.op_type == "MatMul":
        return Product(node.name, node.input[0], node.output[0], node.input[1], "plain")
    if node.op_type == "Gemm":
        layout = "transposed" if attribute_of(node, "transB", 0) else "plain"
        product, bias = _with_bias(node, node.output[0])
        return Product(node.name, node.input[0], product, node.input[1], layout, (), bias)
    axes = len(weights[node.input[1]].dims)
    channels_last = [0, *range(2, axes), 1]
    channels_second = [0, axes - 1, *range(1, axes - 1)]
    turned, result = f"{node.output[0]}/frames", f"{node.output[0]}/channels_last"
    product, bias = _with_bias(node, result)
    before = helper.make_node("Transpose", [node.input[0]], [turned], f"{node.name}/frames", perm=channels_last)
    after = helper.make_node("Transpose", [result], [node.output[0]], f"{node.name}/channels", perm=channels_second)
    return Product(node.name, turned, product, node.input[1], "kernel", (before,), (*bias, after))


def matrix_of(tensor: onnx.TensorProto, layout: str) -> Matrix:
    """The weights of a product, (rows, columns)."""
    values = numpy_helper.to_array(tensor)
    if layout == "kernel":
        values = values.reshape(values.shape[:2])
    return values if layout == "plain" else np.ascontiguousarray(values.T)


_PLAIN_GEMM = (("alpha", 1.0), ("beta", 1.0), ("transA", 0))


def _is_pointwise(node: onnx.NodeProto, dims: list[int]) -> bool:
    """A kernel of one place, moved by one, over all channels at once: padding would add rows of nothing."""
    if len(dims) < 3 or any(size != 1 for size in dims[2:]) or attribute_of(node, "group", 1) != 1:
        return False
    axes = len(dims) - 2
    strides = attribute_of(node, "strides", [1] * axes)
    pads = attribute_of(node, "pads", [0] * (2 * axes))
    return strides == [1] * axes and pads == [0] * (2 * axes)


def _with_bias(node: onnx.NodeProto, result: str) -> tuple[str, tuple[onnx.NodeProto, ...]]:
    """Name of the product's output, and the addition that makes ``result`` of it where the node has a bias."""
    if len(node.input) < 3 or not node.input[2]:
        return result, ()
    product = f"{result}/product"
    return product, (helper.make_node("Add", [product, node.input[2]], [result], f"{node.name}/bias"),)
