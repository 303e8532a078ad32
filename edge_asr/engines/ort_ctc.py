"""Streaming CTC models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_path import Emitted, TokenPath
from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.engines.ort_states import layout_of
from edge_asr.engines.ort_steps import run_steps, run_through

ROLE = "model"


class CtcRecogniser:
    """One graph, whose outputs are the posteriors."""

    def __init__(self, graphs: Mapping[str, Graph], family: str) -> None:
        self._graph = graphs[ROLE]
        self._layout = layout_of(self._graph, family)
        self.window_frames = self._layout.window_frames
        self.blank = blank_of(self._graph, family)

    def log_posteriors(
        self, batch: Sequence[Float32Array], paths: Sequence[TokenPath] | None = None
    ) -> list[Float32Array]:
        """For each recording (frames, tokens); a CTC model has no memory of tokens, so paths change nothing."""
        del paths
        return run_through(self._graph, self._layout, batch)

    def greedy(self, features: Float32Array) -> TokenPath:
        """The best token of each frame, but for blanks and for repetitions."""
        posteriors = self.log_posteriors([features])[0]
        if not len(posteriors):
            return TokenPath((), self.blank)
        best = posteriors.argmax(axis=1)
        before = np.concatenate(([self.blank], best[:-1]))
        return TokenPath(tuple(np.where(best == before, self.blank, best).tolist()), self.blank)

    def steps(self, features: Float32Array) -> Iterator[tuple[str, Inputs]]:
        """Inputs of each step."""
        for step in run_steps(self._graph, self._layout, [features]):
            yield ROLE, step.inputs


class CtcSearch:
    """Greedy search over a stream; its memory is the token of the last frame."""

    def __init__(self, graph: Graph, family: str) -> None:
        self._blank = blank_of(graph, family)

    def begin(self) -> int:
        """Nothing was heard."""
        return self._blank

    def follow(self, frames: Float32Array, memory: int) -> tuple[list[Emitted], int]:
        """Every token that is neither the blank nor the one of the frame before."""
        emitted = []
        for frame, token in enumerate(frames.argmax(axis=1).tolist()):
            if token not in (self._blank, memory):
                emitted.append(Emitted(token, frame, float(frames[frame, token])))
            memory = token
        return emitted, memory


def blank_of(graph: Graph, family: str) -> int:
    """The token that stands for nothing: NeMo's comes after the tokens, the others' is the first of them.

    Raises:
        ModelDamaged: The metadata do not say how many tokens there are.
    """
    with graph.keys_needed() as keys:
        return int(keys["vocab_size"]) if family == "nemo-ctc-streaming" else 0
