"""A streaming recogniser of our own over ONNX Runtime, for execution providers that sherpa-onnx cannot reach.

It has the methods of sherpa-onnx's ``OnlineRecognizer``, so that :class:`~edge_asr.engines.online.OnlineEngine` serves
it like that one. Features, states and greedy search are sherpa-onnx's too: on the CPU the text is the same. One stream
is decoded a run, since NPUs take graphs of fixed shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import kaldi_native_fbank
import numpy as np
import numpy.typing as npt

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_ctc import CtcSearch
from edge_asr.engines.ort_features import BINS, FEATURES, FRAME_SHIFT_S, FeatureOptions, fbank_options
from edge_asr.engines.ort_path import Emitted
from edge_asr.engines.ort_providers import NO_COVERAGE, OrtRuntime
from edge_asr.engines.ort_session import Graph
from edge_asr.engines.ort_states import STEPPED_FAMILIES, Layout, layout_of
from edge_asr.engines.ort_transducer import TransducerSearch
from edge_asr.engines.token_text import TokenText
from edge_asr.errors import ModelUnsupported
from edge_asr.families import ModelFamily


class Search(Protocol):
    """From the encoder's frames to tokens; what it must remember of a stream is a value."""

    def begin(self) -> Any:  # noqa: ANN401  each search has a memory of its own
        """The memory of a fresh stream."""
        ...

    def follow(self, frames: Float32Array, memory: Any) -> tuple[list[Emitted], Any]:  # noqa: ANN401
        """Tokens of one step's frames, shape (frames, width), and the memory behind them."""
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """What has been recognised since the last reset, as sherpa-onnx gives it."""

    text: str
    tokens: list[str]
    timestamps: list[float]
    """Seconds since the reset."""
    ys_probs: list[float]
    """Natural logarithms."""


class OrtStream:
    """One decoding state."""

    def __init__(self, fbank: Any, states: dict[str, npt.NDArray[Any]], memory: Any) -> None:  # noqa: ANN401
        self.fbank = fbank
        self.states = states
        self.memory = memory
        self.steps = 0
        self.steps_at_reset = 0
        self.emitted: list[tuple[int, float, float]] = []
        """Token, seconds since the reset, logarithm of the probability."""

    def accept_waveform(self, sample_rate_hz: int, samples: list[float]) -> None:
        """Take audio."""
        self.fbank.accept_waveform(sample_rate_hz, samples)

    def input_finished(self) -> None:
        """No more audio."""
        self.fbank.input_finished()

    def set_option(self, _key: str, _value: str) -> None:
        """No model here has options."""


class OrtRecognizer:
    """A loaded model."""

    def __init__(
        self,
        files: Mapping[str, Path],
        family: ModelFamily,
        runtime: OrtRuntime,
        *,
        threads: int,
        sample_rate_hz: int,
    ) -> None:
        """Load the graphs.

        Args:
            files: Role to file, ``tokens`` included.
            family: How the parts fit together.
            runtime: Where they run.
            threads: Of each session.
            sample_rate_hz: Of the audio.

        Raises:
            ModelUnsupported: The family is not served here.
            ModelDamaged: A graph cannot be loaded, or its states do not pair.
            ProviderUnavailable: The provider does not run all of it.
        """
        if family.name not in STEPPED_FAMILIES:
            raise ModelUnsupported(family.name, "ONNX Runtime's own providers serve no models of this family")
        roles = [role for role in family.roles if role != "tokens"]
        graphs = {role: Graph(files[role], role, threads, runtime) for role in roles}
        self.coverage = NO_COVERAGE
        """What the provider really runs, all graphs together."""
        for graph in graphs.values():
            self.coverage = self.coverage.plus(graph.coverage())
        self._text = TokenText.read(files["tokens"])
        self._encoder = graphs[roles[0]]
        self._layout = layout_of(self._encoder, family.name)
        self._search: Search = (
            TransducerSearch(graphs, self._text.unknown)
            if "joiner" in graphs
            else CtcSearch(self._encoder, family.name)
        )
        self._features = FEATURES.get(family.name, FeatureOptions())
        self._fbank_options = fbank_options(sample_rate_hz, self._features)

    def create_stream(self) -> OrtStream:
        """A fresh decoding state."""
        states = {state.input: state.first(1) for state in self._layout.states}
        fbank = kaldi_native_fbank.OnlineFbank(self._fbank_options)
        stream = _ScaledStream if self._features.are_samples_scaled else OrtStream
        return stream(fbank, states, self._search.begin())

    def is_ready(self, stream: OrtStream) -> bool:
        """Whether a step is possible; like sherpa-onnx it wants one frame more than the window."""
        done = stream.steps * self._layout.shift_frames
        return bool(done + self._layout.window_frames < stream.fbank.num_frames_ready)

    def decode_stream(self, stream: OrtStream) -> None:
        """One step.

        Raises:
            EngineFailed: The graph did not run.
        """
        done = stream.steps * self._layout.shift_frames
        frames = run_step(self._encoder, self._layout, _window(stream.fbank, done, self._layout), done, stream.states)
        emitted, stream.memory = self._search.follow(frames, stream.memory)
        shift_s = self._layout.shift_frames * FRAME_SHIFT_S
        begin_s = (stream.steps - stream.steps_at_reset) * shift_s
        frame_s = shift_s / max(1, len(frames))
        stream.emitted += [(each.token, begin_s + each.frame * frame_s, each.log_prob) for each in emitted]
        stream.steps += 1
        stream.fbank.pop(self._layout.shift_frames)

    def decode_streams(self, streams: Sequence[OrtStream]) -> None:
        """One step of each."""
        for stream in streams:
            self.decode_stream(stream)

    def get_result_all(self, stream: OrtStream) -> Result:
        """Text and tokens since the last reset."""
        tokens = [token for token, _, _ in stream.emitted]
        return Result(
            self._text.text(tokens),
            [self._text.symbol(token) for token in tokens],
            [round(time_s, 3) for _, time_s, _ in stream.emitted],
            [log_prob for _, _, log_prob in stream.emitted],
        )

    def reset(self, stream: OrtStream) -> None:
        """Begin a new segment; the states of the graphs go on."""
        stream.emitted = []
        stream.steps_at_reset = stream.steps


class _ScaledStream(OrtStream):
    """Of a model that was trained on 16-bit integers."""

    def accept_waveform(self, sample_rate_hz: int, samples: list[float]) -> None:
        scaled = np.asarray(samples, np.float32) * np.float32(32768)
        self.fbank.accept_waveform(sample_rate_hz, scaled.tolist())


def run_step(
    graph: Graph, layout: Layout, window: Float32Array, done_frames: int, states: dict[str, npt.NDArray[Any]]
) -> Float32Array:
    """One run of an encoder for one stream, whose states are replaced; the frames it puts out, (frames, width)."""
    inputs = layout.further(window[np.newaxis], done_frames)
    outputs = graph.run({**inputs, **states})
    states.update({state.input: outputs[state.output] for state in layout.states})
    frames: Float32Array = outputs[0][0]
    return frames


def _window(fbank: Any, first: int, layout: Layout) -> Float32Array:  # noqa: ANN401  native and untyped
    window = np.empty((layout.window_frames, BINS), np.float32)
    for place in range(layout.window_frames):
        window[place] = fbank.get_frame(first + place)
    return window
