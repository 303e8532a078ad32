"""Going through a graph, its subgraphs (the branches of an ``If``, the body of a ``Loop``) included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import onnx
from google.protobuf.message import Message

STANDARD_DOMAINS = ("", "ai.onnx")
"""Two names of the same set of operators."""


def subgraphs_of(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """The graphs that a node runs."""
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == onnx.AttributeProto.GRAPHS:
            yield from attribute.graphs


def graphs_of(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """The graph, then those inside it."""
    yield graph
    for node in graph.node:
        for inner in subgraphs_of(node):
            yield from graphs_of(inner)


def nodes_of(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Every node; a node that runs subgraphs comes before theirs."""
    for node in graph.node:
        yield node
        for inner in subgraphs_of(node):
            yield from nodes_of(inner)


def attribute_of(node: onnx.NodeProto, name: str, default: object) -> object:
    """An attribute's value, or what it is when not given."""
    for attribute in node.attribute:
        if attribute.name == name:
            return onnx.helper.get_attribute_value(attribute)
    return default


def operator_counts(model: onnx.ModelProto) -> Mapping[str, int]:
    """Operators of a model, most frequent first; those of no standard domain as ``domain.Operator``."""
    counts = Counter(
        node.op_type if node.domain in STANDARD_DOMAINS else f"{node.domain}.{node.op_type}"
        for node in nodes_of(model.graph)
    )
    return dict(counts.most_common())


def used_names(graph: onnx.GraphProto) -> set[str]:
    """Every tensor that some node, or the graph itself, reads."""
    used = {output.name for inner in graphs_of(graph) for output in inner.output}
    used.update(name for node in nodes_of(graph) for name in node.input if name)
    return used


def metadata_of(model: onnx.ModelProto) -> dict[str, str]:
    """What the file says about itself."""
    return {entry.key: entry.value for entry in model.metadata_props}


def model_bytes(model: onnx.ModelProto) -> int:
    """Size of the model; protobuf's own way ends with an error at 2 GB, because it serializes."""
    parts = (without_weights(model), *model.graph.initializer)
    return sum(int(part.ByteSize()) for part in parts)


def without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of everything but the initializers of the outermost graph; nothing large is copied on the way."""
    copy = onnx.ModelProto()
    for field, value in model.ListFields():
        if field.name != "graph":
            _copy_field(copy, field.name, value)
    for field, value in model.graph.ListFields():
        if field.name not in ("initializer", "sparse_initializer"):
            _copy_field(copy.graph, field.name, value)
    return copy


def _copy_field(message: Message, name: str, value: object) -> None:
    if isinstance(value, (int, str, bytes)):
        setattr(message, name, value)
    else:
        getattr(message, name).MergeFrom(value)
