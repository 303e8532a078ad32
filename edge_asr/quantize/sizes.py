"""Sizes that a graph works out at every run though they never change.

Exporters write down how a size is computed, not what it is: a streaming encoder has hundreds of nodes that find out its
own chunk length, and everything that depends on it (masks, tables of positions, products of constants) is computed anew
for each chunk. Where shape inference finds a size that is fixed, it is written in its place; one that is an axis of an
input, the batch, is asked for once. What was constant all along is then folded away.

The result is compared with the graph it came from on trial inputs, and dropped if it differs.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edge_asr.quantize.cleanup import clean_up
from edge_asr.quantize.fold import fold_constants
from edge_asr.quantize.trial_run import gives_the_same
from edge_asr.quantize.unheard import unheard
from edge_asr.quantize.versions import PROTOBUF_LIMIT_BYTES
from edge_asr.quantize.walk import attribute_of, graphs_of, model_bytes, without_weights

MOST_ROUNDS = 5
"""Sizes that become known make others known; published models need two rounds."""
_LARGE = 1024
"""Constants with more elements are weights: shape inference needs their shape, not their contents."""

Size = int | str | None
"""Fixed, named, or unknown."""


def settle_sizes(model: onnx.ModelProto) -> tuple[onnx.ModelProto, str]:
    """The graph with its fixed sizes written out.

    Args:
        model: Cleaned up; it is not changed.

    Returns:
        The graph, and why it is the one given where nothing could be settled; empty otherwise.
    """
    if len(list(graphs_of(model.graph))) > 1:
        return model, ""  # a branch that is not taken may have other sizes than shape inference thinks
    if model_bytes(model) >= PROTOBUF_LIMIT_BYTES:
        return model, "sizes not settled: a model of 2 GB and more is not tried out"
    settled = onnx.ModelProto()
    settled.CopyFrom(model)
    for _ in range(MOST_ROUNDS):
        sizes = infer_sizes(settled)
        if sizes is None:
            return model, "sizes not settled: their inference failed"
        if not _write_out(settled.graph, sizes):
            break
        settled, complaint = fold_constants(settled)
        if complaint:
            return model, complaint
        clean_up(settled)
    if len(settled.graph.node) == len(model.graph.node):
        return model, ""
    if not gives_the_same(model, settled):
        return model, "sizes not settled: on trial inputs the graph gave something else, or could not be run"
    return settled, ""


def infer_sizes(model: onnx.ModelProto) -> dict[str, list[Size]] | None:
    """Sizes of every tensor whose rank is known; None where inference gives up."""
    with unheard():
        from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

        try:
            inferred = SymbolicShapeInference.infer_shapes(_light(model), auto_merge=True)
        except Exception:  # noqa: BLE001  it raises plain Exception, AssertionError, KeyError and what sympy raises
            return None
    graph = inferred.graph
    return {
        value.name: [_size(dim) for dim in value.type.tensor_type.shape.dim]
        for value in (*graph.value_info, *graph.input, *graph.output)
        if value.type.tensor_type.HasField("shape")
    }


def _light(model: onnx.ModelProto) -> onnx.ModelProto:
    """The graph with its weights as inputs: they are large, and only their shapes matter."""
    light = without_weights(model)
    for tensor in model.graph.initializer:
        if np.prod(tensor.dims, dtype=np.int64) > _LARGE:
            light.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
        else:
            light.graph.initializer.append(tensor)
    return light


def _size(dim: onnx.TensorShapeProto.Dimension) -> Size:
    if dim.HasField("dim_value"):
        return int(dim.dim_value)
    name = str(dim.dim_param)
    return int(name) if name.isdecimal() else name or None


def _write_out(graph: onnx.GraphProto, sizes: Mapping[str, list[Size]]) -> int:
    """Replace look-ups of sizes that are known; how many there were."""
    constants = {tensor.name: tensor for tensor in graph.initializer}
    measured = {
        node.output[0]: node.input[0]
        for node in graph.node
        if node.op_type == "Shape" and not attribute_of(node, "start", 0) and attribute_of(node, "end", None) is None
    }
    named = _named_axes(graph)
    written = 0
    for node in graph.node:
        if node.op_type != "Gather" or node.input[0] not in measured or node.input[1] not in constants:
            continue
        indices = numpy_helper.to_array(constants[node.input[1]])
        found = sizes.get(measured[node.input[0]], [])
        if indices.size != 1 or not -len(found) <= int(indices.reshape(-1)[0]) < len(found):
            continue
        size = found[int(indices.reshape(-1)[0])]
        if isinstance(size, int):
            _become_constant(node, np.full(indices.shape, size, np.int64))
            written += 1
        elif size in named and measured[node.input[0]] != named[size][0]:
            source, axis = named[size]
            _measure_instead(graph, node, source, np.full(indices.shape, axis, np.int64))
            written += 1
    return written


def _named_axes(graph: onnx.GraphProto) -> dict[str, tuple[str, int]]:
    """Name of a size to the first input, and its axis, that has it."""
    named: dict[str, tuple[str, int]] = {}
    for value in graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_param:
                named.setdefault(dim.dim_param, (value.name, axis))
    return named


def _become_constant(node: onnx.NodeProto, value: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> None:
    kept = helper.make_node("Constant", [], list(node.output), node.name, value=numpy_helper.from_array(value))
    node.CopyFrom(kept)


def _measure_instead(
    graph: onnx.GraphProto, node: onnx.NodeProto, source: str, axis: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> None:
    """Let the node look at an input of the graph; equal look-ups are merged when constants are folded."""
    shape, index = f"{source}/shape", f"{source}/axis{int(axis.reshape(-1)[0])}/{axis.ndim}"
    if all(shape not in other.output for other in graph.node):
        graph.node.insert(0, helper.make_node("Shape", [source], [shape], shape))
    if all(tensor.name != index for tensor in graph.initializer):
        graph.initializer.append(numpy_helper.from_array(axis, index))
    node.input[0], node.input[1] = shape, index
