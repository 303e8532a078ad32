"""A new graph made from an old one, a node at a time; the old one is not touched and its weights are not copied."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from edge_asr.quantize.products import Weights
from edge_asr.quantize.walk import graphs_of, used_names, without_weights

Rewrite = Callable[[onnx.NodeProto, "Editor"], Iterable[onnx.NodeProto] | None]
"""What takes the place of a node; None leaves it."""


class Editor:
    """Collects the nodes and weights of the new graph."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.weights: Weights = {tensor.name: tensor for tensor in model.graph.initializer}
        """Those of the old graph."""
        self._model = without_weights(model)
        self._added: dict[str, onnx.TensorProto] = {}
        self._scope = ""
        self._in_scope: set[str] = set()

    def rewrite(self, rewrite: Rewrite) -> None:
        """Replace nodes, in the subgraphs too."""
        # The innermost first: rewriting a graph copies its nodes, and the subgraphs in them.
        for number, graph in reversed(list(enumerate(graphs_of(self._model.graph)))):
            self._scope = f"/subgraph{number}" if number else ""
            self._in_scope = set()
            nodes: list[onnx.NodeProto] = []
            for node in graph.node:
                replacement = rewrite(node, self)
                nodes.extend([node] if replacement is None else replacement)
            kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
            del graph.node[:]
            graph.node.extend(kept)

    def add(self, name: str, make: Callable[[], npt.NDArray[np.generic] | onnx.TensorProto]) -> str:
        """A weight of the new graph; nodes that name the same one share it, and it is made once."""
        if name not in self._added:
            made = make()
            tensor = made if isinstance(made, onnx.TensorProto) else numpy_helper.from_array(made)
            tensor.name = name
            self._added[name] = tensor
        return name

    def once_here(self, name: str) -> tuple[str, bool]:
        """A name for a tensor that is computed once in the graph at hand, and whether it still has to be.

        A subgraph gets one of its own: what it computes is not seen outside, and it may not hide an outer name.
        """
        name += self._scope
        is_first = name not in self._in_scope
        self._in_scope.add(name)
        return name, is_first

    def finish(self) -> onnx.ModelProto:
        """The new model, with the weights that something still reads."""
        used = used_names(self._model.graph)
        kept = (tensor for tensor in self.weights.values() if tensor.name in used)
        self._model.graph.initializer.extend([*kept, *self._added.values()])
        return self._model
