"""Smoothing: channels of activations that stand out are made smaller, and the weights that read them larger.

Exact in float32. Activations are quantized with one scale for all channels, so that a few large ones take the precision
of all others; weights have a scale for each column and bear more (Xiao et al. 2022, SmoothQuant, arXiv:2211.10438, with
its alpha of a half). The division is a product by constants of its own, since what comes before a product here is
seldom a norm to fold it into.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edge_asr.engines.ort_session import Inputs
from edge_asr.quantize.graph import Prepared
from edge_asr.quantize.observe import Channels, observe

STANDS_OUT = 8.0
"""Largest channel over the median one, from which smoothing is worth its product."""


def smoothed(prepared: Prepared, nodes: Collection[str], steps: Callable[[], Iterator[Inputs]]) -> Prepared:
    """A float graph that computes the same, with the inputs of some products evened out.

    Args:
        prepared: Not changed.
        nodes: Products that may be smoothed; those without outstanding channels stay as they are.
        steps: Gives the inputs of the graph's runs.
    """
    weights = {tensor.name: tensor for tensor in prepared.model.graph.initializer}
    products = {
        node.name: node
        for node in prepared.model.graph.node
        if node.name in nodes and node.op_type == "MatMul" and node.input[1] in weights
    }
    seen = observe(prepared.model, {node.input[0] for node in products.values()}, steps())
    model = onnx.ModelProto()
    model.CopyFrom(prepared.model)
    for name, node in products.items():
        if node.input[0] not in seen:
            continue
        matrix = numpy_helper.to_array(weights[node.input[1]])
        scales = scales_of(seen[node.input[0]].largest, np.abs(matrix).max(axis=-1))
        if scales is not None:
            _apply(model.graph, name, matrix, scales)
    _drop_unread(model.graph)
    return replace(prepared, model=model)


def scales_of(activations: Channels, weights: Channels) -> Channels | None:
    """By what each input channel is divided, and its row of weights multiplied; ``None`` where it is not worth it.

    Args:
        activations: Largest magnitude of each channel.
        weights: Largest magnitude of each row.
    """
    heard = activations[activations > 0]
    if not len(heard) or heard.max() < STANDS_OUT * np.median(heard):
        return None
    usable = (activations > 0) & (weights > 0)
    scales = np.ones_like(activations, np.float64)
    scales[usable] = np.sqrt(activations[usable].astype(np.float64) / weights[usable])
    scales[usable] /= np.exp(np.mean(np.log(scales[usable])))
    return scales.astype(np.float32)


def _apply(graph: onnx.GraphProto, name: str, matrix: np.ndarray, scales: Channels) -> None:
    position, node = next((index, node) for index, node in enumerate(graph.node) if node.name == name)
    divided, factors, larger = f"{name}/smoothed", f"{name}/smoothing", f"{name}/smoothed_weights"
    graph.initializer.append(numpy_helper.from_array((1 / scales).astype(np.float32), factors))
    graph.initializer.append(numpy_helper.from_array((matrix * scales[:, None]).astype(np.float32), larger))
    source = node.input[0]
    node.input[0], node.input[1] = divided, larger
    graph.node.insert(position, helper.make_node("Mul", [source, factors], [divided], name=f"{name}/smooth"))


def _drop_unread(graph: onnx.GraphProto) -> None:
    read = {name for node in graph.node for name in node.input} | {output.name for output in graph.output}
    inner = any(attribute.HasField("g") for node in graph.node for attribute in node.attribute)
    if inner:  # A subgraph may read what the outer graph holds.
        return
    kept = [tensor for tensor in graph.initializer if tensor.name in read]
    del graph.initializer[:]
    graph.initializer.extend(kept)
