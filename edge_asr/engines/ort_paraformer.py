"""Streaming Paraformer: the encoder says how much of a token each frame is; the decoder names those that are whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_path import NOTHING, TokenPath
from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.engines.ort_transducer import log_softmax

CHUNK_FRAMES = 61
SHIFT_FRAMES = CHUNK_FRAMES - 1
LEFT_FRAMES = 5
RIGHT_FRAMES = 3
"""Stacked frames of the chunks before and after that a step sees; as in sherpa-onnx 2.0.1."""
WHOLE = 1.0
BLANK = 0


@dataclass(slots=True)
class _Stream:
    """What is carried from step to step."""

    seen: Float32Array
    caches: list[Float32Array]
    part: Float32Array
    """Sum of the frames of the token that is not whole yet."""
    weight: float = 0.0
    """How much of it there is."""
    fired: list[bool] = field(default_factory=list)
    """For each stacked frame whether a token became whole there."""
    tokens: list[int] = field(default_factory=list)
    """Their names, as the decoder itself chooses them."""


class ParaformerRecogniser:
    """One stream at a time, as in sherpa-onnx."""

    def __init__(self, graphs: Mapping[str, Graph]) -> None:
        self._encoder, self._decoder = graphs["encoder"], graphs["decoder"]
        self.window_frames = CHUNK_FRAMES
        self.blank = BLANK
        with self._encoder.keys_needed() as keys:
            self._stacked, self._stride = int(keys["lfr_window_size"]), int(keys["lfr_window_shift"])
            self._width = int(keys["encoder_output_size"])
            self._blocks, self._kernel = int(keys["decoder_num_blocks"]), int(keys["decoder_kernel_size"])
            self._negative_mean = _numbers(keys["neg_mean"])
            self._inverse_deviation = _numbers(keys["inv_stddev"]) * np.float32(np.sqrt(self._width))

    def log_posteriors(
        self, batch: Sequence[Float32Array], paths: Sequence[TokenPath] | None = None
    ) -> list[Float32Array]:
        """For each recording (tokens, vocabulary).

        Tokens become whole where the path says that they did, so that two models name the same stretches; by default
        where this model says so.
        """
        found = []
        for number, features in enumerate(batch):
            forced = paths[number] if paths is not None else None
            rows = [logits for _, _, logits in self._runs(features, forced) if logits is not None]
            found.append(log_softmax(np.concatenate(rows)) if rows else np.empty((0, 0), np.float32))
        return found

    def greedy(self, features: Float32Array) -> TokenPath:
        """For each stacked frame (60 ms) the token that became whole there, or nothing."""
        stream = self._first()
        for _ in self._runs(features, None, stream):
            pass
        named = iter(stream.tokens)
        return TokenPath(tuple(next(named) if has_fired else NOTHING for has_fired in stream.fired), BLANK)

    def steps(self, features: Float32Array) -> Iterator[tuple[str, Inputs]]:
        """Inputs of each run."""
        for role, inputs, _ in self._runs(features, None):
            yield role, inputs

    def _runs(
        self, features: Float32Array, forced: TokenPath | None, stream: _Stream | None = None
    ) -> Iterator[tuple[str, Inputs, Float32Array | None]]:
        """Every run: role, inputs, and the logits (tokens, vocabulary) that came of it."""
        stream = stream or self._first()
        done = 0
        while done + CHUNK_FRAMES < len(features):
            chunk = self._prepared(features[done : done + CHUNK_FRAMES], done // self._stride)
            window = np.concatenate((stream.seen, chunk))
            stream.seen = window[-len(stream.seen) :]
            done += SHIFT_FRAMES
            names = self._encoder.inputs
            inputs: Inputs = {names[0]: window[None], names[1]: np.array([len(window)], np.int32)}
            encoded, length, alphas = self._encoder.run(inputs)[:3]
            yield "encoder", inputs, None
            whole = self._integrate(stream, encoded[0], alphas[0], forced)
            if len(whole):
                names = self._decoder.inputs
                further = dict(zip(names[4:], stream.caches, strict=True))
                count = np.array([len(whole)], np.int32)
                inputs = {names[0]: encoded, names[1]: length, names[2]: whole[None], names[3]: count, **further}
                logits, chosen, *stream.caches = self._decoder.run(inputs)
                stream.tokens += chosen[0].tolist()
                yield "decoder", inputs, logits[0]

    def _first(self) -> _Stream:
        return _Stream(
            seen=np.zeros((LEFT_FRAMES + RIGHT_FRAMES, len(self._negative_mean)), np.float32),
            caches=[np.zeros((1, self._width, self._kernel - 1), np.float32) for _ in range(self._blocks)],
            part=np.zeros(self._width, np.float32),
        )

    def _prepared(self, frames: Float32Array, offset: int) -> Float32Array:
        """Frames stacked, normalised, and with their position: (stacked frames, bins of all)."""
        count = (len(frames) - self._stacked) // self._stride + 1
        stacked = np.stack([frames[i * self._stride : i * self._stride + self._stacked].ravel() for i in range(count)])
        normal = (stacked + self._negative_mean) * self._inverse_deviation
        return normal + _positions(count, normal.shape[1], offset)

    def _integrate(
        self, stream: _Stream, encoded: Float32Array, alphas: Float32Array, forced: TokenPath | None
    ) -> Float32Array:
        """Continuous integrate-and-fire: embeddings of the tokens that became whole, (tokens, width)."""
        alphas = alphas.copy()
        alphas[:LEFT_FRAMES] = 0
        alphas[len(alphas) - RIGHT_FRAMES :] = 0
        whole = []
        for frame, alpha in zip(encoded, alphas, strict=True):
            missing = WHOLE - stream.weight
            if not self._fires(stream, float(alpha), forced):
                stream.weight += float(alpha)
                stream.part = stream.part + frame * alpha
                continue
            used = min(missing, float(alpha)) if forced is not None else missing
            whole.append(stream.part + frame * np.float32(used))
            stream.weight = float(alpha) - used
            stream.part = frame * np.float32(stream.weight)
        return np.array(whole, np.float32)

    def _fires(self, stream: _Stream, alpha: float, forced: TokenPath | None) -> bool:
        if forced is None:
            fires = stream.weight + alpha >= WHOLE
        else:
            number = len(stream.fired)
            fires = number < len(forced.frames) and forced.frames[number] != NOTHING
        stream.fired.append(fires)
        return fires


def _numbers(text: str) -> Float32Array:
    return np.array(text.split(","), np.float32)


def _positions(count: int, width: int, offset: int) -> Float32Array:
    """Sines in the first half, cosines in the second; the first frame of all has number 1."""
    numbers = np.arange(1 + offset, 1 + offset + count, dtype=np.float32)[:, None]
    angles = numbers * np.exp(np.arange(width // 2, dtype=np.float32) * np.float32(-np.log(10000) / (width / 2 - 1)))
    return np.concatenate((np.sin(angles), np.cos(angles)), axis=1).astype(np.float32)
