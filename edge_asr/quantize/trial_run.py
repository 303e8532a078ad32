"""Run two graphs on the same made-up inputs: do they compute the same?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx

from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.errors import EngineFailed
from edge_asr.quantize.sources import loaded

TOLERANCE = 1e-4
"""Of each output, as a share of its largest value: sums may be made in another order."""
Outputs = list[npt.NDArray[Any]] | None
VARYING = (1, 3)
"""What sizes that vary are set to in each of the runs."""


def gives_the_same(before: onnx.ModelProto, after: onnx.ModelProto) -> bool:
    """Whether both put out the same; inputs of which the first can make no sense prove nothing."""
    expected = _outputs(before)
    found = _outputs(after)  # one after the other: a large model is in memory twice while it is loaded
    tried = [pair for pair in zip(expected, found, strict=True) if pair[0] is not None]
    return bool(tried) and all(_are_close(*pair) for pair in tried)


def _outputs(model: onnx.ModelProto) -> list[Outputs]:
    """What the graph puts out for each of the trial inputs; None where it fails."""
    graph = loaded(model, "trial")
    results: list[Outputs] = []
    for size in VARYING:
        try:
            results.append(graph.run(trial_inputs(graph, size)))
        except EngineFailed:
            results.append(None)
    return results


def trial_inputs(graph: Graph, varying: int) -> Inputs:
    """Noise for floats and zeros for the rest, always the same; sizes that vary are all as given."""
    generator = np.random.default_rng(0)
    inputs: Inputs = {}
    for name, shape in graph.shapes.items():
        sizes = [size if isinstance(size, int) else varying for size in shape]
        kind = graph.types[name]
        is_float = issubclass(kind, np.floating)
        inputs[name] = (generator.standard_normal(sizes) if is_float else np.zeros(sizes)).astype(kind)
    return inputs


def _are_close(expected: Outputs, found: Outputs) -> bool:
    return (
        expected is not None
        and found is not None
        and all(_is_close(*pair) for pair in zip(expected, found, strict=True))
    )


def _is_close(expected: npt.NDArray[Any], found: npt.NDArray[Any]) -> bool:
    if found.shape != expected.shape:
        return False
    if not np.issubdtype(expected.dtype, np.floating):
        return bool(np.array_equal(found, expected))
    limit = TOLERANCE * float(np.abs(expected).max(initial=0.0))
    return bool(np.allclose(found, expected, rtol=0, atol=limit, equal_nan=True))
