"""From a graph and a choice for each of its nodes to the quantized graph.

``load_graph`` → ``prepare_graph`` → ``quantizable_nodes`` → ``apply_assignment``; nothing here reads audio, runs a
model or decides anything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from edge_asr.errors import (
    AlreadyQuantized,
    ChoiceImpossible,
    ModelDamaged,
    ModelUnsupported,
    NodeUnknown,
    QuantizedLess,
)
from edge_asr.quantize import blockwise
from edge_asr.quantize.blockwise import blockwise_product
from edge_asr.quantize.choices import Choice, Node, WeightOptions
from edge_asr.quantize.cleanup import check_finite, clean_up
from edge_asr.quantize.editing import Editor
from edge_asr.quantize.embedding import integer_embedding, is_embedding
from edge_asr.quantize.feedback import Moments
from edge_asr.quantize.fold import fold_constants
from edge_asr.quantize.half_weights import fits_half, half_weights
from edge_asr.quantize.integer_product import integer_product
from edge_asr.quantize.products import Weights, as_product, is_product, weight_name
from edge_asr.quantize.sizes import settle_sizes
from edge_asr.quantize.targets import Target
from edge_asr.quantize.versions import cap_versions, require_domain, strip_opset_imports
from edge_asr.quantize.walk import graphs_of, metadata_of, nodes_of, operator_counts


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A float graph in which every node has a name of its own and every weight is a plain initializer."""

    name: str
    """Of the file, for error sentences."""
    model: onnx.ModelProto
    """Never changed: :func:`apply_assignment` makes a new one."""
    metadata: Mapping[str, str]
    """What the engine reads from the file; every model made from this one has the same."""
    notes: tuple[str, ...] = ()
    """What was done and what could not be, a sentence each."""


@dataclass(frozen=True, slots=True)
class OperatorCounts:
    """Operators of a graph, its subgraphs included, before and after."""

    before: Mapping[str, int]
    after: Mapping[str, int]
    quantized: Mapping[Choice, int] = field(default_factory=dict)
    """Nodes whose weights were changed, by what was done."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantized:
    """A graph with the choices applied."""

    model: onnx.ModelProto
    counts: OperatorCounts
    notes: tuple[str, ...] = ()


def load_graph(path: Path) -> onnx.ModelProto:
    """Read an ONNX file with the weights that lie beside it; they may be more than 2 GB.

    Raises:
        ModelDamaged: It is no ONNX file, or weights beside it are missing or cut off.
        ModelUnsupported: It is an ``.ort`` file, which cannot be turned back into a graph.
    """
    if path.suffix == ".ort":
        raise ModelUnsupported(
            path.name, "an .ort file is made for one runtime and cannot be quantized; start from the .onnx it came from"
        )
    try:
        model = onnx.load(str(path))
    except DecodeError as error:
        raise ModelDamaged(path.name, "it is no ONNX file, or it is cut off") from error
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise ModelDamaged(path.name, f"it cannot be read: {error}") from error
    if not model.graph.node:
        raise ModelDamaged(path.name, "it holds no graph")
    return model


def prepare_graph(model: onnx.ModelProto, *, name: str = "model", is_continued: bool = False) -> Prepared:
    """Clean a float graph up for quantization.

    Args:
        model: Taken over: do not use it afterwards.
        name: For error sentences.
        is_continued: Take a graph that has quantized nodes already, and leave those alone.

    Raises:
        AlreadyQuantized: It has quantized nodes.
        WeightsNotFinite: A weight is NaN or infinite.
        ModelTooNew: It needs an operator set that no runtime on a board has, and cannot be written in an older one.
        ModelDamaged: It names no operator set.
    """
    quantized = quantized_operators(model)
    if quantized and not is_continued:
        raise AlreadyQuantized(name, quantized)
    metadata = metadata_of(model)
    clean_up(model)
    check_finite(model, name)
    model, notes = cap_versions(model, name)
    model, not_folded = fold_constants(model)
    clean_up(model)
    model, not_settled = settle_sizes(model) if not not_folded else (model, "")
    strip_opset_imports(model)
    restore_metadata(model, metadata)
    notes += [f"{name}: {complaint}" for complaint in (not_folded, not_settled) if complaint]
    return Prepared(name, model, metadata, tuple(notes))


def quantized_operators(model: onnx.ModelProto) -> dict[str, int]:
    """Operators that only quantized graphs have, and how many of each; weights in halves count as well."""
    counts = {operator: count for operator, count in operator_counts(model).items() if operator in QUANTIZED_OPERATORS}
    halves = sum(
        tensor.data_type == onnx.TensorProto.FLOAT16 and len(tensor.dims) > 1
        for graph in graphs_of(model.graph)
        for tensor in graph.initializer
    )
    return counts | ({"weights in half precision": halves} if halves else {})


def quantizable_nodes(prepared: Prepared, component: str, target: Target) -> list[Node]:
    """Every node whose weights can be quantized, in the order of the graph."""
    weights = _weights(prepared.model)
    return [
        _described(node, component, weights, target)
        for node in nodes_of(prepared.model.graph)
        if is_product(node, weights) or is_embedding(node, weights)
    ]


def apply_assignment(
    prepared: Prepared,
    component: str,
    choices: Mapping[str, Choice],
    *,
    weights: WeightOptions | None = None,
    moments: Mapping[str, Moments] | None = None,
) -> Quantized:
    """Quantize the named nodes.

    Args:
        prepared: Stays as it is.
        component: For error sentences.
        choices: Node name to choice; nodes not named, and ``fp32``, stay as they are. All of them may: the result is
            then the prepared graph.
        weights: How; rounding to the nearest in blocks of 32 by default.
        moments: For ``gptq``: what :func:`~edge_asr.quantize.moments.measure_moments` found, by node name.

    Raises:
        ConfigurationError: ``gptq`` lacks the moments of a node.
        NodeUnknown: A name is none of the quantizable nodes.
        ChoiceImpossible: A node cannot be quantized in that way.
        QuantizedLess: Fewer nodes than chosen were quantized.
    """
    planned = {name: choice for name, choice in choices.items() if choice != "fp32"}
    _check_possible(prepared, component, choices.keys(), planned)
    editor = Editor(prepared.model)
    how = _How(weights or WeightOptions(), moments or {})

    def rewrite(node: onnx.NodeProto, editor: Editor) -> Iterable[onnx.NodeProto] | None:
        choice = planned.get(node.name)
        if choice is None:
            return None
        return _REWRITES[choice](node, editor, how)

    editor.rewrite(rewrite)
    model = editor.finish()
    if any(choice in ("weight4", "weight8") for choice in planned.values()):
        require_domain(model, blockwise.DOMAIN)
    _check_done(component, planned, prepared.model, model)
    restore_metadata(model, prepared.metadata)
    quantized: dict[Choice, int] = dict(Counter(planned.values()))
    return Quantized(model, OperatorCounts(operator_counts(prepared.model), operator_counts(model), quantized))


def possible_choices(node: onnx.NodeProto, weights: Weights) -> tuple[Choice, ...]:
    """What can be done with the weights of a node, ``fp32`` first."""
    halves: tuple[Choice, ...] = ("fp16",) if fits_half(weights[weight_name(node, weights)]) else ()
    if node.op_type == "Gather":
        return ("fp32", "int8", *halves)
    return ("fp32", "int8", "weight8", "weight4", *halves)


QUANTIZED_OPERATORS = frozenset(
    {
        "ConvInteger",
        "DequantizeLinear",
        "DynamicQuantizeLinear",
        "MatMulInteger",
        "QLinearConv",
        "QLinearMatMul",
        "QuantizeLinear",
        "com.microsoft.DynamicQuantizeLSTM",
        "com.microsoft.DynamicQuantizeMatMul",
        "com.microsoft.GatherBlockQuantized",
        "com.microsoft.MatMulBnb4",
        "com.microsoft.MatMulIntegerToFloat",
        "com.microsoft.MatMulNBits",
        "com.microsoft.QGemm",
    }
)
"""Operators that no float graph has."""


@dataclass(frozen=True, slots=True)
class _How:
    """What some of the rewrites want to know."""

    options: WeightOptions
    moments: Mapping[str, Moments]


def _int8(node: onnx.NodeProto, editor: Editor, how: _How) -> Iterable[onnx.NodeProto]:  # noqa: ARG001
    if node.op_type == "Gather":
        return integer_embedding(node, editor)
    return integer_product(as_product(node, editor.weights), editor)


def _weight8(node: onnx.NodeProto, editor: Editor, how: _How) -> Iterable[onnx.NodeProto]:
    return blockwise_product(as_product(node, editor.weights), editor, 8, how.options, how.moments)


def _weight4(node: onnx.NodeProto, editor: Editor, how: _How) -> Iterable[onnx.NodeProto]:
    return blockwise_product(as_product(node, editor.weights), editor, 4, how.options, how.moments)


def _fp16(node: onnx.NodeProto, editor: Editor, how: _How) -> Iterable[onnx.NodeProto]:  # noqa: ARG001
    return half_weights(node, weight_name(node, editor.weights), editor)


_REWRITES: Mapping[Choice, Callable[[onnx.NodeProto, Editor, _How], Iterable[onnx.NodeProto]]] = {
    "int8": _int8,
    "weight8": _weight8,
    "weight4": _weight4,
    "fp16": _fp16,
}


def _described(node: onnx.NodeProto, component: str, weights: Weights, target: Target) -> Node:
    tensor = weights[weight_name(node, weights)]
    shape = tuple(tensor.dims)
    possible = possible_choices(node, weights)
    return Node(
        component=component,
        name=node.name,
        operator=node.op_type,
        weight_shape=shape,
        weight_bytes=4 * math.prod(shape),
        choices=tuple(choice for choice in possible if choice in target.choices),
        weight=tensor.name,
    )


def _weights(model: onnx.ModelProto) -> Weights:
    return {tensor.name: tensor for tensor in model.graph.initializer}


def _check_possible(prepared: Prepared, component: str, named: Iterable[str], planned: Mapping[str, Choice]) -> None:
    weights = _weights(prepared.model)
    possible = {
        node.name: possible_choices(node, weights) if node.name in planned else ()
        for node in nodes_of(prepared.model.graph)
        if is_product(node, weights) or is_embedding(node, weights)
    }
    unknown = sorted(set(named) - possible.keys())
    if unknown:
        raise NodeUnknown(component, unknown, len(possible))
    for name, choice in planned.items():
        if choice not in possible[name]:
            raise ChoiceImpossible(component, name, choice, possible[name])


def _check_done(component: str, planned: Mapping[str, Choice], before: onnx.ModelProto, after: onnx.ModelProto) -> None:
    """Count in the graph itself: each chosen node is one less that reads float weights."""
    left = count_float_readers(before) - count_float_readers(after)
    if left < len(planned):
        raise QuantizedLess(component, " or ".join(sorted(set(planned.values()))), len(planned), left)


def count_float_readers(model: onnx.ModelProto) -> int:
    """Nodes that multiply with constant float32 weights, or look them up."""
    weights = _weights(model)
    return sum(is_product(node, weights) or is_embedding(node, weights) for node in nodes_of(model.graph))


def restore_metadata(model: onnx.ModelProto, metadata: Mapping[str, str]) -> None:
    """What the engine reads must survive every step, whichever tool lost it on the way."""
    found = metadata_of(model)
    for key, value in metadata.items():
        if key not in found:
            model.metadata_props.add(key=key, value=value)
