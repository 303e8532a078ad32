"""The same recordings through two versions of a streaming graph, each with its own states from the first chunk on.

A compiler's error in a state stays and grows, which a single run with zero states does not show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_session import Graph
from edge_asr.engines.ort_states import layout_of
from edge_asr.engines.ort_steps import run_steps


class OutputLikeness(msgspec.Struct, frozen=True):
    """One output of the graph, over the whole loop."""

    name: str
    cosine: float
    """1 where both versions point the same way."""
    largest_error: float


class LoopComparison(msgspec.Struct, frozen=True):
    """Two versions of one graph."""

    steps: int
    outputs: tuple[OutputLikeness, ...]
    """In the graph's order: what it says, then its states, layer by layer."""

    @property
    def least_cosine(self) -> float:
        """Of the output that differs most; 1 for none."""
        return min((output.cosine for output in self.outputs), default=1.0)


def compare_loops(before: Graph, after: Graph, family: str, features: Sequence[Float32Array]) -> LoopComparison:
    """Run both.

    Args:
        before: The float graph.
        after: What was made of it.
        family: How it is fed.
        features: Of each recording, (frames, bins).
    """
    sums = [_Likeness() for _ in before.outputs]
    layout, steps = layout_of(before, family), 0
    for recording in features:
        pairs = zip(run_steps(before, layout, [recording]), run_steps(after, layout, [recording]), strict=True)
        for expected, found in pairs:
            steps += 1
            for likeness, one, other in zip(sums, expected.outputs, found.outputs, strict=True):
                likeness.add(one, other)
    return LoopComparison(steps, tuple(likeness.of(name) for name, likeness in zip(before.outputs, sums, strict=True)))


class _Likeness:
    def __init__(self) -> None:
        self._product = self._one = self._other = self._largest = 0.0

    def add(self, expected: npt.NDArray[Any], found: npt.NDArray[Any]) -> None:
        one, other = expected.ravel().astype(np.float64), found.ravel().astype(np.float64)
        self._product += float(one @ other)
        self._one += float(one @ one)
        self._other += float(other @ other)
        self._largest = max(self._largest, float(np.abs(one - other).max(initial=0.0)))

    def of(self, name: str) -> OutputLikeness:
        length = float(np.sqrt(self._one * self._other))
        cosine = self._product / length if length else float(self._one == self._other)
        return OutputLikeness(name, round(cosine, 6), round(self._largest, 6))
