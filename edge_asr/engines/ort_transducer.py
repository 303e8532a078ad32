"""Streaming transducers with a stateless decoder: encoder, decoder over the last tokens, joiner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_path import TokenPath
from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.engines.ort_states import layout_of
from edge_asr.engines.ort_steps import run_steps, run_through

BLANK = 0
_NOTHING = -1
"""What stands before the first token; icefall's decoders take it for no token at all."""

Context = tuple[int, ...]
"""The last tokens, oldest first."""


class TransducerRecogniser:
    """Greedy search as sherpa-onnx does it: at most one token a frame."""

    def __init__(self, graphs: Mapping[str, Graph], family: str, unknown: int | None) -> None:
        self._encoder, self._decoder, self._joiner = (graphs[role] for role in ("encoder", "decoder", "joiner"))
        self._layout = layout_of(self._encoder, family)
        self._unknown = unknown
        self.window_frames = self._layout.window_frames
        self.blank = BLANK
        with self._decoder.keys_needed() as keys:
            self._context_tokens = int(keys["context_size"])
        self._predicted: dict[Context, Float32Array] = {}
        self._batches_decoder = not isinstance(self._decoder.shapes[self._decoder.inputs[0]][0], int)
        self._batches_joiner = not isinstance(self._joiner.shapes[self._joiner.inputs[0]][0], int)

    def log_posteriors(
        self, batch: Sequence[Float32Array], paths: Sequence[TokenPath] | None = None
    ) -> list[Float32Array]:
        """For each recording (frames, tokens), given the tokens of the path before each frame; its own by default."""
        encoded = run_through(self._encoder, self._layout, batch)
        chosen = paths if paths is not None else [self._search(frames) for frames in encoded]
        return [self._along(frames, path) for frames, path in zip(encoded, chosen, strict=True)]

    def greedy(self, features: Float32Array) -> TokenPath:
        """What sherpa-onnx's greedy search emits at each frame."""
        return self._search(run_through(self._encoder, self._layout, [features])[0])

    def steps(self, features: Float32Array) -> Iterator[tuple[str, Inputs]]:
        """Inputs of each encoder step, and of the decoder and joiner in between."""
        context = self._first_context()
        yield "decoder", self._decoder_inputs([context])
        for step in run_steps(self._encoder, self._layout, [features]):
            yield "encoder", step.inputs
            for frame in step.output[0]:
                inputs = self._joiner_inputs(frame[None], self._predictions([context]))
                yield "joiner", inputs
                token = self._best(self._joiner.run(inputs)[0][0])
                if token != BLANK:
                    context = (*context[1:], token)
                    yield "decoder", self._decoder_inputs([context])

    def _search(self, frames: Float32Array) -> TokenPath:
        context, emitted = self._first_context(), []
        for frame in frames:
            logits = self._joiner.run(self._joiner_inputs(frame[None], self._predictions([context])))[0][0]
            token = self._best(logits)
            emitted.append(token)
            if token != BLANK:
                context = (*context[1:], token)
        return TokenPath(tuple(emitted))

    def _along(self, frames: Float32Array, path: TokenPath) -> Float32Array:
        context, contexts = self._first_context(), []
        for token in path.frames[: len(frames)]:
            contexts.append(context)
            if token != BLANK:
                context = (*context[1:], token)
        contexts += [context] * (len(frames) - len(contexts))
        if not contexts:
            return np.empty((0, 0), np.float32)
        predictions = self._predictions(contexts)
        if self._batches_joiner:
            return log_softmax(self._joiner.run(self._joiner_inputs(frames, predictions))[0])
        rows = [
            self._joiner.run(self._joiner_inputs(frame[None], prediction[None]))[0]
            for frame, prediction in zip(frames, predictions, strict=True)
        ]
        return log_softmax(np.concatenate(rows))

    def _predictions(self, contexts: Sequence[Context]) -> Float32Array:
        """The decoder's output for each context, (contexts, width); one that was seen before is not run again."""
        new = [context for context in dict.fromkeys(contexts) if context not in self._predicted]
        batches = [new] if self._batches_decoder else [[context] for context in new]
        for batch in batches:
            if batch:
                outputs = self._decoder.run(self._decoder_inputs(batch))[0]
                self._predicted.update(zip(batch, outputs, strict=True))
        return np.stack([self._predicted[context] for context in contexts])

    def _decoder_inputs(self, contexts: Sequence[Context]) -> Inputs:
        return {self._decoder.inputs[0]: np.array(contexts, np.int64)}

    def _joiner_inputs(self, frames: Float32Array, predictions: Float32Array) -> Inputs:
        first, second = self._joiner.inputs[:2]
        return {first: frames, second: predictions}

    def _first_context(self) -> Context:
        return (*(_NOTHING,) * (self._context_tokens - 1), BLANK)

    def _best(self, logits: Float32Array) -> int:
        token = int(logits.argmax())
        return BLANK if token == self._unknown else token


def log_softmax(logits: Float32Array) -> Float32Array:
    """Logarithms of the probabilities, along the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    result: Float32Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result
