"""What goes through a graph while it hears something: means and extremes of the channels of named tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import onnx

from edge_asr.engines.ort_session import Inputs
from edge_asr.quantize.sources import loaded

Channels = npt.NDArray[np.float32]
"""A number for each channel, the last axis of the tensor: shape (channels,)."""


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """One tensor over all runs."""

    mean: Channels
    largest: Channels
    """Magnitude."""


def observe(model: onnx.ModelProto, tensors: Collection[str], runs: Iterable[Inputs]) -> dict[str, Observed]:
    """Run the graph and look at tensors inside it.

    Args:
        model: Not changed.
        tensors: Names, at the outermost level of the graph.
        runs: What each run is given.

    Returns:
        Tensor to what was seen; one that never held anything is not there.
    """
    present = [name for name in tensors if any(name in node.output for node in model.graph.node)]
    graph = loaded(with_outputs(model, present), "observed")
    places = {name: graph.outputs.index(name) for name in present}
    sums: dict[str, npt.NDArray[np.float64]] = {}
    largest: dict[str, Channels] = {}
    counts = dict.fromkeys(present, 0)
    for inputs in runs:
        outputs = graph.run(inputs)
        for name, place in places.items():
            vectors = outputs[place].reshape(-1, outputs[place].shape[-1])
            if not len(vectors):
                continue
            counts[name] += len(vectors)
            extremes = np.abs(vectors).max(axis=0)
            sums[name] = sums.get(name, 0.0) + vectors.sum(axis=0, dtype=np.float64)
            largest[name] = np.maximum(largest[name], extremes) if name in largest else extremes
    return {
        name: Observed((sums[name] / counts[name]).astype(np.float32), largest[name].astype(np.float32))
        for name in sums
    }


def with_outputs(model: onnx.ModelProto, names: Iterable[str]) -> onnx.ModelProto:
    """A copy of the graph that puts out these tensors too."""
    known = {output.name for output in model.graph.output}
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in known)
    return copy
