"""How a streaming graph is fed: what it sees of the features at a step, and which outputs become inputs again.

sherpa-onnx pairs states by position, and so it is here; where a graph names them (``new_X`` for ``X``), the names must
agree. All states are zero at first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.errors import ModelDamaged, ModelUnsupported

Array = npt.NDArray[Any]
Further = Callable[[Float32Array, int], Inputs]
"""From the features of a step (batch, window, bins) and the frames before it, every input that is no state."""

WENET_CHUNK = 16
WENET_LEFT_CHUNKS = 4
"""sherpa-onnx's defaults; its Python interface is called with them."""


@dataclass(frozen=True, slots=True)
class State:
    """One tensor that is carried from step to step."""

    input: str
    output: int
    """Its place among the outputs."""
    shape: tuple[int, ...]
    """For a batch of one."""
    batch_axis: int | None
    """None where the graph takes one stream only."""
    kind: type[np.generic]

    def first(self, batch: int) -> Array:
        """What it is before any audio."""
        shape = list(self.shape)
        if self.batch_axis is not None:
            shape[self.batch_axis] = batch
        return np.zeros(shape, self.kind)

    def of_first(self, tensor: Array, batch: int) -> Array:
        """The part of the first streams of a batch."""
        if self.batch_axis is None or tensor.shape[self.batch_axis] == batch:
            return tensor
        return np.take(tensor, range(batch), axis=self.batch_axis)


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything about feeding one graph."""

    window_frames: int
    """Feature frames that a step looks at."""
    shift_frames: int
    """Feature frames from one step to the next."""
    states: tuple[State, ...]
    further: Further

    @property
    def can_batch(self) -> bool:
        """Whether several streams fit into one run."""
        return all(state.batch_axis is not None for state in self.states)


def layout_of(graph: Graph, family: str) -> Layout:
    """How the graph of a streaming family is fed.

    Raises:
        ModelUnsupported: The family is none of those that can be run here.
        ModelDamaged: Metadata lack a key, or states do not pair.
    """
    make = _LAYOUTS.get(family)
    if make is None:
        raise ModelUnsupported(graph.name, f"models of the family {family} cannot be run step by step here")
    with graph.keys_needed() as keys:
        layout = make(graph, keys)
    for state in layout.states:
        _check_pair(graph, state)
    return layout


def _check_pair(graph: Graph, state: State) -> None:
    if state.output >= len(graph.outputs):
        raise ModelDamaged(graph.name, f"nothing that it puts out becomes its state {state.input!r}")
    output = graph.outputs[state.output]
    if output.startswith("new_") and output != f"new_{state.input}":
        raise ModelDamaged(graph.name, f"its state {state.input!r} is followed by {output!r}; the order is wrong")


def _icefall(graph: Graph, keys: Mapping[str, str]) -> Layout:
    """Features first, then the states; the same at the other end."""
    names = graph.inputs[1:]
    states = tuple(_declared(graph, name, place) for place, name in enumerate(names, start=1))
    return Layout(int(keys["T"]), int(keys["decode_chunk_len"]), states, lambda x, _done: {graph.inputs[0]: x})


def _conformer(graph: Graph, keys: Mapping[str, str]) -> Layout:
    """Two states, and how many frames there have been."""
    layers, width = int(keys["num_encoder_layers"]), int(keys["encoder_dim"])
    attention = (layers, int(keys["left_context"]), 1, width)
    convolution = (layers, int(keys["cnn_module_kernel"]) - 1, 1, width)
    features, first, second, processed = graph.inputs[:4]
    states = (
        State(first, 1, attention, 2, np.float32),
        State(second, 2, convolution, 2, np.float32),
    )

    def further(x: Float32Array, done: int) -> Inputs:
        return {features: x, processed: np.full(len(x), done, np.int64)}

    return Layout(int(keys["T"]), int(keys["decode_chunk_len"]), states, further)


def _lstm(graph: Graph, keys: Mapping[str, str]) -> Layout:
    layers = int(keys["num_encoder_layers"])
    features, hidden, cell = graph.inputs[:3]
    states = (
        State(hidden, 1, (layers, 1, int(keys["d_model"])), 1, np.float32),
        State(cell, 2, (layers, 1, int(keys["rnn_hidden_size"])), 1, np.float32),
    )
    return Layout(int(keys["T"]), int(keys["decode_chunk_len"]), states, lambda x, _done: {features: x})


def _nemo(graph: Graph, keys: Mapping[str, str]) -> Layout:
    """Features with time last, their number, and three caches; the second output is a length and no state."""
    window = int(keys["window_size"])
    features, length, *caches = graph.inputs
    shapes = [tuple(int(keys[f"cache_last_{kind}_dim{axis}"]) for axis in (1, 2, 3)) for kind in ("channel", "time")]
    states = (
        State(caches[0], 2, (1, *shapes[0]), 0, np.float32),
        State(caches[1], 3, (1, *shapes[1]), 0, np.float32),
        State(caches[2], 4, (1,), 0, np.int64),
    )

    def further(x: Float32Array, _done: int) -> Inputs:
        return {features: np.ascontiguousarray(x.transpose(0, 2, 1)), length: np.full(len(x), window, np.int64)}

    return Layout(window, int(keys["chunk_shift"]), states, further)


def _wenet(graph: Graph, keys: Mapping[str, str]) -> Layout:
    """Two caches, where the chunk stands, how much is kept, and a mask of what is filled; one stream at a time."""
    subsampling, blocks, width = (int(keys[key]) for key in ("subsampling_factor", "num_blocks", "output_size"))
    head, kept = int(keys["head"]), WENET_CHUNK * WENET_LEFT_CHUNKS
    features, offset, required, attention, convolution, mask = graph.inputs
    states = (
        State(attention, 1, (blocks, head, kept, width // head * 2), None, np.float32),
        State(convolution, 2, (blocks, 1, width, int(keys["cnn_module_kernel"]) - 1), None, np.float32),
    )
    window = (WENET_CHUNK - 1) * subsampling + int(keys["right_context"]) + 1
    shift = WENET_CHUNK * subsampling

    def further(x: Float32Array, done: int) -> Inputs:
        chunks = done // shift
        filled = np.ones((1, 1, kept + WENET_CHUNK), np.bool_)
        filled[..., : max(kept - chunks * WENET_CHUNK, 0)] = False
        at = np.array([kept + chunks * WENET_CHUNK], np.int64)
        return {features: x, offset: at, required: np.array([kept], np.int64), mask: filled}

    return Layout(window, shift, states, further)


_LAYOUTS: Mapping[str, Callable[[Graph, Mapping[str, str]], Layout]] = {
    "zipformer2-transducer": _icefall,
    "zipformer-transducer": _icefall,
    "ebranchformer-transducer": _icefall,
    "conformer-transducer": _conformer,
    "lstm-transducer": _lstm,
    "zipformer2-ctc": _icefall,
    "nemo-ctc-streaming": _nemo,
    "wenet-ctc-streaming": _wenet,
}

STEPPED_FAMILIES = frozenset(_LAYOUTS)
"""Paraformer is missing: it decides only later how many tokens a stretch has."""


def _declared(graph: Graph, name: str, place: int) -> State:
    """A state whose sizes the graph itself declares; the one that varies is the batch's."""
    shape = graph.shapes[name]
    varying = [axis for axis, size in enumerate(shape) if not isinstance(size, int)]
    if len(varying) > 1:
        raise ModelUnsupported(graph.name, f"its state {name!r} has the sizes {shape}, and only the batch may vary")
    sizes = tuple(size if isinstance(size, int) else 1 for size in shape)
    return State(name, place, sizes, varying[0] if varying else None, graph.types[name])
