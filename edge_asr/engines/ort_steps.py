"""Audio through a streaming graph, step by step, for one recording or several at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.engines.ort_states import Layout


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One run."""

    inputs: Inputs
    streams: tuple[int, ...]
    """Places of the recordings in the batch that took part."""
    outputs: list[npt.NDArray[Any]]
    """Everything the graph puts out, states included, in its order."""

    @property
    def frames(self) -> Float32Array:
        """What it says, (streams, frames, width)."""
        frames: Float32Array = self.outputs[0]
        return frames


def steps_of(features: Float32Array, layout: Layout) -> int:
    """How many steps sherpa-onnx makes of so many frames: it wants one more than the window."""
    return max(0, -(-(len(features) - layout.window_frames) // layout.shift_frames))


def run_steps(graph: Graph, layout: Layout, batch: Sequence[Float32Array]) -> Iterator[Step]:
    """Every step of recordings that start together; shorter ones leave as they end.

    Args:
        graph: What is run.
        layout: How it is fed.
        batch: Features of each recording, (frames, bins).
    """
    # The longest first, so that the streams that are left are always the first ones of the states.
    order = sorted(range(len(batch)), key=lambda index: -steps_of(batch[index], layout))
    counts = [steps_of(batch[index], layout) for index in order]
    states = {state.input: state.first(len(batch)) for state in layout.states}
    for number in range(counts[0] if counts else 0):
        active = sum(count > number for count in counts)
        done = number * layout.shift_frames
        window = np.stack([batch[index][done : done + layout.window_frames] for index in order[:active]])
        inputs = layout.further(window, done)
        for state in layout.states:
            inputs[state.input] = state.of_first(states[state.input], active)
        outputs = graph.run(inputs)
        states = {state.input: outputs[state.output] for state in layout.states}
        yield Step(inputs, tuple(order[:active]), outputs)


def run_through(graph: Graph, layout: Layout, batch: Sequence[Float32Array]) -> list[Float32Array]:
    """What the graph puts out for each recording, (frames, width); one after another where it takes no batch."""
    if len(batch) > 1 and not layout.can_batch:
        return [frames for one in batch for frames in run_through(graph, layout, [one])]
    pieces: list[list[Float32Array]] = [[] for _ in batch]
    for step in run_steps(graph, layout, batch):
        for stream, frames in zip(step.streams, step.frames, strict=True):
            pieces[stream].append(frames)
    return [np.concatenate(found) if found else np.empty((0, 0), np.float32) for found in pieces]
