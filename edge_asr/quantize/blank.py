"""A penalty for the blank, in the graph itself: what quantization lost by deletions comes back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edge_asr.errors import ModelUnsupported

SCORING = ("joiner", "model")
"""Roles whose first output holds the scores of the tokens."""


def with_blank_penalty(models: Mapping[str, onnx.ModelProto], blank: int, penalty: float) -> dict[str, onnx.ModelProto]:
    """Graphs that score the blank lower by ``penalty``, in nats.

    It is what sherpa-onnx's ``blank_penalty`` does for transducers, and works for CTC models too, which have no such
    option.

    Args:
        models: Role to graph; not changed.
        blank: Index of the blank.
        penalty: 0 for none.

    Raises:
        ModelUnsupported: None of the graphs scores tokens.
    """
    role = next((role for role in SCORING if role in models), None)
    if role is None:
        raise ModelUnsupported(", ".join(models), "no graph of it scores a blank")
    if not penalty:
        return dict(models)
    model = onnx.ModelProto()
    model.CopyFrom(models[role])
    graph = model.graph
    scores = graph.output[0]
    tokens = _vocabulary(graph, scores)
    values = np.zeros(tokens, np.float32)
    values[blank] = -penalty
    name, inside = scores.name, f"{scores.name}/without_penalty"
    for node in graph.node:
        node.output[:] = [inside if output == name else output for output in node.output]
        node.input[:] = [inside if source == name else source for source in node.input]
    graph.initializer.append(numpy_helper.from_array(values, "blank_penalty"))
    graph.node.append(helper.make_node("Add", [inside, "blank_penalty"], [name], name="/blank_penalty"))
    return {**models, role: model}


def _vocabulary(graph: onnx.GraphProto, scores: onnx.ValueInfoProto) -> int:
    dimension = scores.type.tensor_type.shape.dim[-1]
    if dimension.dim_value:
        return int(dimension.dim_value)
    raise ModelUnsupported(graph.name, f"its output {scores.name!r} does not say how many tokens it scores")
