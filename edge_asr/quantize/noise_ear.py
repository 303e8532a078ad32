"""In place of an ear, for models that cannot be run step by step: how noise comes out of each graph.

Graphs of non-streaming models are compared one by one, by the error of their outputs on the same made-up inputs. That
ranks nodes, no more; only an evaluation set can accept what comes of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx

from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.errors import EngineFailed, ModelUnsupported
from edge_asr.quantize.divergence import Divergence
from edge_asr.quantize.graph import Prepared
from edge_asr.quantize.sources import digest_of, loaded

SIZES = (64, 16, 3, 1, 16_000)
"""Tried for whatever varies but the batch (frames, tokens, samples); the first that a graph takes."""

Outputs = list[npt.NDArray[Any]]


class NoiseEar:
    """Stands where :class:`~edge_asr.quantize.sensitivity.Ear` does."""

    blank: int | None = None

    def __init__(self, components: Mapping[str, Prepared]) -> None:
        """Run every graph of the original.

        Args:
            components: Role to graph.

        Raises:
            ModelUnsupported: One of them makes no sense of noise of any size.
        """
        self._original: dict[str, tuple[int, list[Outputs]]] = {}
        digest = hashlib.sha256()
        for role, prepared in components.items():
            digest.update(digest_of(prepared.model))
            self._original[role] = _first_run(loaded(prepared.model, role), role)
        self.digest = f"noise {digest.hexdigest()}"

    def steps(self, role: str) -> Iterator[Inputs]:  # noqa: ARG002
        """None: noise says nothing about what a graph really hears."""
        return iter(())

    def compare(self, models: Mapping[str, onnx.ModelProto | Path], *, quickly: bool = False) -> Divergence:  # noqa: ARG002
        """Squared error of the outputs, as a share of their own square, averaged over graphs and outputs."""
        errors = []
        for role, model in models.items():
            size, expected = self._original[role]
            graph = Graph(model, role, 1) if isinstance(model, Path) else loaded(model, role)
            for before, after in zip(expected, _runs(graph, size), strict=True):
                errors += [_error(*pair) for pair in zip(before, after, strict=True) if pair[0].dtype.kind == "f"]
        return Divergence(float(np.mean(errors)) if errors else 0.0, 0.0, 0.0, max(1, len(errors)))


def _first_run(graph: Graph, role: str) -> tuple[int, list[Outputs]]:
    for size in SIZES:
        try:
            return size, _runs(graph, size)
        except EngineFailed:
            continue
    raise ModelUnsupported(role, "it cannot be run by itself, so its nodes cannot be compared; use a fixed recipe")


def _runs(graph: Graph, size: int) -> list[Outputs]:
    """Outputs with every switch off, and on: the merged decoder of an encoder-decoder model has nodes for either."""
    switches = (False, True) if any(kind is np.bool_ for kind in graph.types.values()) else (False,)
    return [graph.run(noise_for(graph, size, switch=switch)) for switch in switches]


def noise_for(graph: Graph, size: int, *, switch: bool) -> Inputs:
    """Made-up inputs of one stretch, always the same.

    Args:
        graph: A varying first axis of its inputs is the batch, as in all exports of models that do not stream.
        size: Of every other axis that varies; of what has a batch and nothing else, it is the length.
        switch: What every switch is set to.
    """
    generator = np.random.default_rng(0)
    inputs: Inputs = {}
    for name, shape in graph.shapes.items():
        sizes = [one if isinstance(one, int) else size if axis else 1 for axis, one in enumerate(shape)]
        kind = graph.types[name]
        if issubclass(kind, np.floating):
            inputs[name] = generator.standard_normal(sizes).astype(kind)
        elif kind is np.bool_:
            inputs[name] = np.full(sizes, switch)
        else:
            # Ones, since masks are: zeros would hide everything.
            is_length = len(shape) == 1 and not isinstance(shape[0], int)
            inputs[name] = np.full(sizes, size if is_length else 1, kind)
    return inputs


def _error(expected: npt.NDArray[Any], found: npt.NDArray[Any]) -> float:
    if expected.shape != found.shape or not np.isfinite(found).all():
        return float("inf")
    scale = float(np.mean(np.square(expected, dtype=np.float64)))
    error = float(np.mean(np.square(expected.astype(np.float64) - found)))
    return error / scale if scale else error
