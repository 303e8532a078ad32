"""Streaming transducers with a stateless decoder: encoder, decoder over the last tokens, joiner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_path import Emitted, TokenPath
from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.engines.ort_states import layout_of
from edge_asr.engines.ort_steps import run_steps, run_through

BLANK = 0
_NOTHING = -1
"""What stands before the first token; icefall's decoders take it for no token at all."""

Context = tuple[int, ...]
"""The last tokens, oldest first."""


MOST_PREDICTIONS = 4096
"""Outputs of the decoder that are kept, some MB; people say the same things again and again."""


class TransducerSearch:
    """Greedy search as sherpa-onnx does it, at most one token a frame; its memory is the last tokens."""

    def __init__(self, graphs: Mapping[str, Graph], unknown: int | None) -> None:
        self._decoder, self._joiner = graphs["decoder"], graphs["joiner"]
        self._unknown = unknown
        with self._decoder.keys_needed() as keys:
            self._context_tokens = int(keys["context_size"])
        self._predicted: dict[Context, Float32Array] = {}
        self._batches_decoder = not isinstance(self._decoder.shapes[self._decoder.inputs[0]][0], int)
        self._batches_joiner = not isinstance(self._joiner.shapes[self._joiner.inputs[0]][0], int)

    def begin(self) -> Context:
        """What stands before the first token."""
        return (*(_NOTHING,) * (self._context_tokens - 1), BLANK)

    def follow(self, frames: Float32Array, memory: Context) -> tuple[list[Emitted], Context]:
        """Tokens of the encoder's frames, (frames, width)."""
        emitted = []
        for number, frame in enumerate(frames):
            logits = self.logits(frame[None], self.predictions([memory]))[0]
            token = self.best(logits)
            if token != BLANK:
                emitted.append(Emitted(token, number, float(log_softmax(logits)[token])))
                memory = (*memory[1:], token)
        return emitted, memory

    def logits(self, frames: Float32Array, predictions: Float32Array) -> Float32Array:
        """What the joiner makes of each frame and prediction, (frames, tokens)."""
        if self._batches_joiner or len(frames) == 1:
            result: Float32Array = self._joiner.run(self.joiner_inputs(frames, predictions))[0]
            return result
        rows = [
            self._joiner.run(self.joiner_inputs(frame[None], prediction[None]))[0]
            for frame, prediction in zip(frames, predictions, strict=True)
        ]
        return np.concatenate(rows)

    def predictions(self, contexts: Sequence[Context]) -> Float32Array:
        """The decoder's output for each context, (contexts, width); one that was seen before is not run again."""
        new = [context for context in dict.fromkeys(contexts) if context not in self._predicted]
        if len(self._predicted) + len(new) > MOST_PREDICTIONS:
            self._predicted, new = {}, list(dict.fromkeys(contexts))
        predicted = self._predicted  # another thread may begin a new one meanwhile
        batches = [new] if self._batches_decoder else [[context] for context in new]
        for batch in batches:
            if batch:
                outputs = self._decoder.run(self.decoder_inputs(batch))[0]
                predicted.update(zip(batch, outputs, strict=True))
        return np.stack([predicted[context] for context in contexts])

    def decoder_inputs(self, contexts: Sequence[Context]) -> Inputs:
        """What the decoder is given."""
        name = self._decoder.inputs[0]
        return {name: np.array(contexts, self._decoder.types[name])}

    def joiner_inputs(self, frames: Float32Array, predictions: Float32Array) -> Inputs:
        """What the joiner is given."""
        first, second = self._joiner.inputs[:2]
        return {first: frames, second: predictions}

    def best(self, logits: Float32Array) -> int:
        """The most likely token of one frame; an unknown one is taken for the blank."""
        token = int(logits.argmax())
        return BLANK if token == self._unknown else token


class TransducerRecogniser:
    """Whole recordings, with every posterior at hand."""

    def __init__(self, graphs: Mapping[str, Graph], family: str, unknown: int | None) -> None:
        self._encoder, self._joiner = graphs["encoder"], graphs["joiner"]
        self._layout = layout_of(self._encoder, family)
        self._search = TransducerSearch(graphs, unknown)
        self.window_frames = self._layout.window_frames
        self.blank = BLANK

    def log_posteriors(
        self, batch: Sequence[Float32Array], paths: Sequence[TokenPath] | None = None
    ) -> list[Float32Array]:
        """For each recording (frames, tokens), given the tokens of the path before each frame; its own by default."""
        encoded = run_through(self._encoder, self._layout, batch)
        chosen = paths if paths is not None else [self._found(frames) for frames in encoded]
        return [self._along(frames, path) for frames, path in zip(encoded, chosen, strict=True)]

    def greedy(self, features: Float32Array) -> TokenPath:
        """What sherpa-onnx's greedy search emits at each frame."""
        return self._found(run_through(self._encoder, self._layout, [features])[0])

    def steps(self, features: Float32Array) -> Iterator[tuple[str, Inputs]]:
        """Inputs of each encoder step, and of the decoder and joiner in between."""
        search = self._search
        context = search.begin()
        yield "decoder", search.decoder_inputs([context])
        for step in run_steps(self._encoder, self._layout, [features]):
            yield "encoder", step.inputs
            for frame in step.frames[0]:
                inputs = search.joiner_inputs(frame[None], search.predictions([context]))
                yield "joiner", inputs
                token = search.best(self._joiner.run(inputs)[0][0])
                if token != BLANK:
                    context = (*context[1:], token)
                    yield "decoder", search.decoder_inputs([context])

    def _found(self, frames: Float32Array) -> TokenPath:
        tokens = [BLANK] * len(frames)
        for each in self._search.follow(frames, self._search.begin())[0]:
            tokens[each.frame] = each.token
        return TokenPath(tuple(tokens))

    def _along(self, frames: Float32Array, path: TokenPath) -> Float32Array:
        context, contexts = self._search.begin(), []
        for token in path.frames[: len(frames)]:
            contexts.append(context)
            if token != BLANK:
                context = (*context[1:], token)
        contexts += [context] * (len(frames) - len(contexts))
        if not contexts:
            return np.empty((0, 0), np.float32)
        return log_softmax(self._search.logits(frames, self._search.predictions(contexts)))


def log_softmax(logits: Float32Array) -> Float32Array:
    """Logarithms of the probabilities, along the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    result: Float32Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result
