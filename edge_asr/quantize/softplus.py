"""One operator for what exporters write as eight: ``log(1 + exp(x))``.

The activations of Zipformer (Swoosh) hold it, written as ``max(0, x) + log(1 + exp(-|0 - x|))`` so that nothing
overflows. NPUs have a kernel for the whole; and the 16-bit ``Log`` of Qualcomm's simulation gives 0 for everything
(onnxruntime-qnn 2.7.0), so there the long way does not work at all.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx
from onnx import helper, numpy_helper

from edge_asr.quantize.cleanup import drop_unused


def join_softplus(model: onnx.ModelProto) -> int:
    """Replace every such chain by ``Softplus``, in place; how many there were."""
    graph = model.graph
    maker = {name: node for node in graph.node for name in node.output}
    values = {tensor.name: tensor for tensor in graph.initializer}
    joined = 0
    for node in graph.node:
        source = _softplus_of(node, maker, values)
        if source:
            node.CopyFrom(helper.make_node("Softplus", [source], list(node.output), node.name))
            joined += 1
    if joined:
        drop_unused(graph)
    return joined


def _softplus_of(
    node: onnx.NodeProto, maker: Mapping[str, onnx.NodeProto], values: Mapping[str, onnx.TensorProto]
) -> str:
    """What the node is the softplus of; empty where it is something else."""
    if node.op_type != "Add":
        return ""
    parts = {maker[name].op_type: maker[name] for name in node.input if name in maker}
    if parts.keys() != {"Max", "Log"}:
        return ""
    source = _other_than(parts["Max"], 0.0, values)
    chain = maker.get(parts["Log"].input[0])
    exponential = maker.get(_other_than(chain, 1.0, values)) if chain is not None and chain.op_type == "Add" else None
    for operator in ("Exp", "Neg", "Abs"):
        if exponential is None or exponential.op_type != operator:
            return ""
        exponential = maker.get(exponential.input[0])
    if exponential is None or exponential.op_type != "Sub" or not source:
        return ""
    return source if _other_than(exponential, 0.0, values) == source else ""


def _other_than(node: onnx.NodeProto, constant: float, values: Mapping[str, onnx.TensorProto]) -> str:
    """The input of a node of two that is not this constant; empty where neither is."""
    if len(node.input) != 2:
        return ""
    for one, other in (node.input, reversed(node.input)):
        if one in values and (numpy_helper.to_array(values[one]) == constant).all():
            return str(other)
    return ""
