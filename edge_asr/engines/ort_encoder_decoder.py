"""Moonshine in ONNX Runtime: the encoder once, then the merged decoder step by step, many texts at a time.

The decoder is one graph for the first step and all others (``use_cache_branch``). What it made of the encoder's output
comes only from the first step; it is kept and repeated for as many rows as there are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from edge_asr.audio import Float32Array
from edge_asr.engines.beam import IntArray, StepScorer
from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.errors import ModelDamaged

MOONSHINE_BEGIN = 1
MOONSHINE_END = 2

TOKENS_PER_S = 8.0
"""People say half as many; a decoder that writes more has lost the speech."""

SPARE_TOKENS = 10


class EncoderDecoder(Protocol):
    """A model that hears a whole stretch and then writes, token by token."""

    begin: int
    """Token before every text."""
    end: int
    """Token behind every text."""

    def hear(self, samples: Float32Array) -> StepScorer:
        """Encode a stretch; mono PCM at the model's rate, shape (n,)."""
        ...

    def most_tokens(self, samples: int) -> int:
        """Longest text that so many samples can hold."""
        ...


class Moonshine:
    """Implements :class:`EncoderDecoder`."""

    begin = MOONSHINE_BEGIN
    end = MOONSHINE_END

    def __init__(self, encoder: Path, decoder: Path, name: str, threads: int, sample_rate_hz: int) -> None:
        """Load both graphs.

        Raises:
            ModelDamaged: ONNX Runtime cannot, or they are not Moonshine's.
        """
        self._encoder = Graph(encoder, name, threads)
        self._decoder = Graph(decoder, name, threads)
        self._sample_rate_hz = sample_rate_hz
        needed = {"input_ids", "encoder_hidden_states", "use_cache_branch"}
        if not needed <= set(self._decoder.inputs) or "input_values" not in self._encoder.inputs:
            raise ModelDamaged(name, f"its decoder lacks the inputs {', '.join(sorted(needed))}")

    def hear(self, samples: Float32Array) -> StepScorer:
        """Encode a stretch."""
        mask = np.ones((1, len(samples)), np.int64)
        inputs: Inputs = {"input_values": samples[np.newaxis], "attention_mask": mask}
        (hidden, *_) = self._encoder.run({name: inputs[name] for name in self._encoder.inputs})
        return _Writing(self._decoder, hidden, len(samples))

    def most_tokens(self, samples: int) -> int:
        """By the pace of speech."""
        return round(TOKENS_PER_S * samples / self._sample_rate_hz) + SPARE_TOKENS


class _Writing:
    """The decoder over one stretch; implements :class:`~edge_asr.engines.beam.StepScorer`."""

    def __init__(self, decoder: Graph, hidden: npt.NDArray[np.float32], samples: int) -> None:
        self._decoder = decoder
        self._hidden = hidden
        self._samples = samples
        self._rows = 0
        self._fixed: Inputs = {}
        self._cache: Inputs = {
            name: np.zeros(_empty_past(shape, 0 if ".decoder." in name else hidden.shape[1]), np.float32)
            for name, shape in decoder.shapes.items()
            if name.startswith("past_key_values.")
        }
        self._is_first = True

    def step(self, parents: IntArray, tokens: IntArray) -> Float32Array:
        """One token for each row."""
        if self._is_first:
            # All texts begin alike: one row does for all.
            logits = self._run(tokens[:1])
            self._is_first = False
            return np.repeat(logits, len(tokens), axis=0)
        if len(tokens) > self._rows:
            self._repeat(len(tokens))
        for name, values in self._cache.items():
            if ".decoder." in name:
                self._cache[name] = values[parents if len(values) > 1 else np.zeros_like(parents)]
        return self._run(tokens)

    def _repeat(self, rows: int) -> None:
        """What does not change, once for each row; fewer rows are a view of it."""
        self._rows = rows
        self._fixed = {
            name: np.repeat(values[:1], rows, axis=0) for name, values in self._cache.items() if ".encoder." in name
        }
        self._fixed["encoder_hidden_states"] = np.repeat(self._hidden, rows, axis=0)
        self._fixed["encoder_attention_mask"] = np.ones((rows, self._samples), np.int64)

    def _run(self, tokens: IntArray) -> Float32Array:
        rows = len(tokens)
        if self._is_first:
            fixed: Inputs = {
                "encoder_hidden_states": self._hidden,
                "encoder_attention_mask": np.ones((1, self._samples), np.int64),
            }
        else:
            fixed = {name: values[:rows] for name, values in self._fixed.items()}
        inputs: Inputs = {
            **self._cache,
            **fixed,
            "input_ids": tokens[:, np.newaxis],
            "use_cache_branch": np.array([not self._is_first]),
        }
        outputs = self._decoder.run({name: inputs[name] for name in self._decoder.inputs})
        for name, values in zip(self._decoder.outputs[1:], outputs[1:], strict=True):
            past = name.replace("present.", "past_key_values.", 1)
            if self._is_first or ".decoder." in past:
                self._cache[past] = values
        logits: Float32Array = outputs[0][:, -1]
        return logits


def _empty_past(shape: tuple[int | str | None, ...], length: int) -> tuple[int, ...]:
    """One row, heads, positions, width of a head; the graph says those that are fixed."""
    _, heads, _, width = shape
    return 1, int(heads or 0), length, int(width or 0)
