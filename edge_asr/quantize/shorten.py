"""Short names for the tensors inside a graph: exporters write paths, a twentieth of a small model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import onnx

from edge_asr.quantize.walk import graphs_of

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


def with_short_names(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same graph; inputs and outputs keep their names, and so do the nodes, by which people know them.

    Args:
        model: Not changed.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    kept = {entry.name for entry in (*copy.graph.input, *copy.graph.output)}
    names = (name for name in _short_names() if name not in kept)
    short: dict[str, str] = {name: name for name in ("", *kept)}
    for graph in graphs_of(copy.graph):
        for node in graph.node:
            for tensors in (node.input, node.output):
                tensors[:] = [_renamed(name, short, names) for name in tensors]
        for tensor in graph.initializer:
            tensor.name = _renamed(tensor.name, short, names)
        for entry in (*graph.input, *graph.output):
            entry.name = _renamed(entry.name, short, names)
        del graph.value_info[:]
    return copy


def _renamed(name: str, short: dict[str, str], names: Iterator[str]) -> str:
    if name not in short:
        short[name] = next(names)
    return short[name]


def _short_names() -> Iterator[str]:
    for length in range(1, 9):
        for letters in product(_LETTERS, repeat=length):
            if not letters[0].isdigit():
                yield "".join(letters)
