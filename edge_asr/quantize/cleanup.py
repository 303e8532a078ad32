"""Make a graph plain: a name for each node, each weight once and as an initializer, nothing that is not used.

Exporters leave weights in ``Constant`` nodes, behind ``Identity`` and in several copies, list them among the inputs,
and give names to some nodes only. None of these steps changes a result.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
import onnx
from onnx import numpy_helper

from edge_asr.errors import WeightsNotFinite
from edge_asr.quantize.walk import STANDARD_DOMAINS, graphs_of, nodes_of, used_names

_LEAST_SHARED_BYTES = 64
"""Smaller constants are not worth looking for their twins."""
_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE)
_PRODUCTS = ("MatMul", "Gemm", "Conv", "Gather", "LSTM", "GRU")


def clean_up(model: onnx.ModelProto) -> None:
    """All of it, in place."""
    for graph in graphs_of(model.graph):
        lift_constants(graph)
        skip_identities(graph)
        hide_weights(graph)
    gather_weights(model.graph)
    share_twins(model.graph)
    drop_unused(model.graph)
    name_nodes(model.graph)


def lift_constants(graph: onnx.GraphProto) -> None:
    """Turn ``Constant`` nodes that hold a tensor into initializers."""
    kept = []
    for node in graph.node:
        value = _constant_tensor(node)
        if value is None:
            kept.append(node)
            continue
        value.name = node.output[0]
        graph.initializer.append(value)
    _replace_nodes(graph, kept)


def skip_identities(graph: onnx.GraphProto) -> None:
    """Let the readers of an ``Identity`` of an initializer read the initializer; outputs of the graph stay."""
    weights = {tensor.name for tensor in graph.initializer}
    outputs = {output.name for output in graph.output}
    renamed: dict[str, str] = {}
    kept = []
    for node in graph.node:
        source = renamed.get(node.input[0], node.input[0]) if node.input else ""
        if node.op_type == "Identity" and source in weights and node.output[0] not in outputs:
            renamed[node.output[0]] = source
        else:
            kept.append(node)
    if renamed:
        _replace_nodes(graph, kept)
        _rename_inputs(graph, renamed)


def hide_weights(graph: onnx.GraphProto) -> None:
    """Take initializers out of the inputs, where old exporters list them: a runtime then takes none for constant."""
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [tensor for tensor in graph.input if tensor.name not in weights]
    if len(inputs) < len(graph.input):
        kept = [onnx.ValueInfoProto.FromString(tensor.SerializeToString()) for tensor in inputs]
        del graph.input[:]
        graph.input.extend(kept)


def gather_weights(graph: onnx.GraphProto) -> None:
    """Move the initializers of subgraphs to the outermost graph, where all the inner ones can read them."""
    taken = {tensor.name for tensor in graph.initializer}
    for inner in list(graphs_of(graph))[1:]:
        outputs = {output.name for output in inner.output}  # a subgraph may put out only what it holds itself
        moved = [tensor for tensor in inner.initializer if tensor.name not in outputs]
        stay = [onnx.TensorProto.FromString(t.SerializeToString()) for t in inner.initializer if t.name in outputs]
        renamed = {tensor.name: _free_name(tensor.name, taken) for tensor in moved}
        for tensor in moved:
            graph.initializer.add().CopyFrom(tensor)
            graph.initializer[-1].name = renamed[tensor.name]
        _rename_inputs(inner, {old: new for old, new in renamed.items() if old != new})
        del inner.initializer[:]
        inner.initializer.extend(stay)


def share_twins(graph: onnx.GraphProto) -> None:
    """Keep one of several equal weights; layers that share them in training are often exported apart."""
    first: dict[bytes, str] = {}
    renamed: dict[str, str] = {}
    for tensor in graph.initializer:
        if len(tensor.raw_data) < _LEAST_SHARED_BYTES:
            continue
        header = f"{tensor.data_type} {list(tensor.dims)} ".encode()
        key = hashlib.sha256(header + tensor.raw_data).digest()
        if first.setdefault(key, tensor.name) != tensor.name:
            renamed[tensor.name] = first[key]
    outputs = {output.name for inner in graphs_of(graph) for output in inner.output}
    _rename_inputs(graph, {name: twin for name, twin in renamed.items() if name not in outputs})


def drop_unused(graph: onnx.GraphProto) -> None:
    """Remove nodes and initializers that nothing reads, the last ones first."""
    while True:
        used = used_names(graph)
        dropped = False
        for inner in graphs_of(graph):
            kept = [node for node in inner.node if any(name in used for name in node.output)]
            if len(kept) < len(inner.node):
                _replace_nodes(inner, kept)
                dropped = True
            for index in reversed(range(len(inner.initializer))):
                if inner.initializer[index].name not in used:
                    del inner.initializer[index]
        if not dropped:
            return


def name_nodes(graph: onnx.GraphProto) -> None:
    """Give each node a name that no other has; the same graph always gets the same names."""
    taken: set[str] = set()
    for node in nodes_of(graph):
        node.name = _free_name(node.name or f"{node.op_type}:{node.output[0]}", taken)


def check_finite(model: onnx.ModelProto, name: str) -> None:
    """Look at every constant: none may be NaN, and no weight of a product infinite, as constants of masks are.

    Raises:
        WeightsNotFinite: With the tensor, and a node that reads it.
    """
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in nodes_of(model.graph):
        for tensor_name in node.input:
            readers.setdefault(tensor_name, []).append(node)
    for graph in graphs_of(model.graph):
        for tensor in graph.initializer:
            if tensor.data_type not in _FLOATS:
                continue
            nodes = readers.get(tensor.name, [])
            values = numpy_helper.to_array(tensor)
            is_weight = any(node.op_type in _PRODUCTS for node in nodes)
            if np.isnan(values).any() or (is_weight and not np.isfinite(values).all()):
                raise WeightsNotFinite(name, tensor.name, [node.name for node in nodes])


def _constant_tensor(node: onnx.NodeProto) -> onnx.TensorProto | None:
    if node.op_type != "Constant" or node.domain not in STANDARD_DOMAINS:
        return None
    for attribute in node.attribute:
        if attribute.name == "value":
            tensor = onnx.TensorProto()
            tensor.CopyFrom(attribute.t)
            return tensor
        if attribute.name in _SCALARS:
            value = onnx.helper.get_attribute_value(attribute)
            return numpy_helper.from_array(np.asarray(value, dtype=_SCALARS[attribute.name]))
    return None


_SCALARS: Mapping[str, type[np.generic]] = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
}
"""Attributes of ``Constant`` that hold numbers, and their type."""


def _free_name(base: str, taken: set[str]) -> str:
    """The name, or with a number where another has it; then it is taken."""
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}#{number}"
    taken.add(name)
    return name


def _replace_nodes(graph: onnx.GraphProto, nodes: list[onnx.NodeProto]) -> None:
    kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(kept)


def _rename_inputs(graph: onnx.GraphProto, renamed: Mapping[str, str]) -> None:
    if not renamed:
        return
    for node in nodes_of(graph):
        for index, name in enumerate(node.input):
            if name in renamed:
                node.input[index] = renamed[name]
