"""How the inputs of products go together, measured on recorded steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import onnx

from edge_asr.engines.ort_session import Inputs
from edge_asr.quantize.feedback import Moments
from edge_asr.quantize.graph import Prepared
from edge_asr.quantize.observe import with_outputs
from edge_asr.quantize.sources import loaded

MOST_BYTES = 256 << 20
"""Of moments that are gathered in one pass over the steps; more products take more passes."""

_FLOAT64_BYTES = 8


def measure_moments(
    prepared: Prepared, nodes: Iterable[str], steps: Callable[[], Iterator[Inputs]]
) -> dict[str, Moments]:
    """Second moments of what each product multiplies.

    Args:
        prepared: The float graph.
        nodes: Names of products at its outermost level.
        steps: Gives the recorded inputs of the graph, from the first one each time it is called.

    Returns:
        Node name to moments; a node that never ran is not there.
    """
    wanted = set(nodes)
    products = [node for node in prepared.model.graph.node if node.name in wanted]
    sizes = {tensor.name: max(tensor.dims[:2], default=1) for tensor in prepared.model.graph.initializer}
    sources = {node.input[0]: sizes[node.input[1]] for node in products}
    found: dict[str, Moments] = {}
    for names in _passes(sources):
        found |= _measured(prepared, names, steps())
    return {node.name: found[node.input[0]] for node in products if node.input[0] in found}


def _measured(prepared: Prepared, sources: Sequence[str], steps: Iterator[Inputs]) -> dict[str, Moments]:
    graph = loaded(with_outputs(prepared.model, sources), prepared.name)
    places = {name: graph.outputs.index(name) for name in sources}
    channels = _channel_axes(prepared.model)
    sums: dict[str, npt.NDArray[np.float64]] = {}
    counts = dict.fromkeys(sources, 0)
    for inputs in steps:
        outputs = graph.run(inputs)
        for name, place in places.items():
            vectors = np.moveaxis(outputs[place], channels.get(name, -1), -1)
            vectors = vectors.reshape(-1, vectors.shape[-1])
            sums[name] = sums.get(name, 0) + vectors.T @ vectors
            counts[name] += len(vectors)
    return {name: (total / max(counts[name], 1)).astype(np.float32) for name, total in sums.items()}


def _passes(sources: dict[str, int]) -> Iterator[list[str]]:
    """Tensors whose moments fit into memory together."""
    names: list[str] = []
    total = 0
    for name, size in sources.items():
        needed = size * size * _FLOAT64_BYTES
        if names and total + needed > MOST_BYTES:
            yield names
            names, total = [], 0
        names.append(name)
        total += needed
    if names:
        yield names


def _channel_axes(model: onnx.ModelProto) -> dict[str, int]:
    """Tensors whose channels are not their last axis: what convolutions read."""
    return {node.input[0]: 1 for node in model.graph.node if node.op_type == "Conv"}
