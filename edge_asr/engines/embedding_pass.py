"""When the voice of a segment is looked at: :class:`BackgroundEmbedding` on a thread of its own that gives way to the
decoding of words, :class:`InlineEmbedding` at once, where nothing else is to be done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from edge_asr.audio import Float32Array
from edge_asr.engines.passes import Done, Pass, Underway, background_thread
from edge_asr.errors import EngineFailed


class EmbeddingModel(Protocol):
    """As :class:`edge_asr.engines.speaker.SpeakerModel`."""

    def embedding(self, samples: Float32Array, sample_rate_hz: int) -> Float32Array | None:
        """Of the speech in the samples; ``None`` where there is too little. Raises ``EngineFailed``."""
        ...


class Embedder(Protocol):
    """Takes segments."""

    def begin(self, samples: Float32Array, sample_rate_hz: int) -> Pass[Float32Array]:
        """Look at a segment: mono PCM, shape (n,). Nothing comes of too little speech."""
        ...


class InlineEmbedding:
    """At once, on the thread that asks.

    Args:
        model: What is asked.
    """

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    def begin(self, samples: Float32Array, sample_rate_hz: int) -> Pass[Float32Array]:
        """Look at it now."""
        return Done(_embedding(self._model, samples, sample_rate_hz))


class BackgroundEmbedding:
    """On a thread of its own, one segment after the other.

    Args:
        model: Used by that thread only.
        on_done: Called on that thread when a segment is done.
    """

    def __init__(self, model: EmbeddingModel, on_done: Callable[[], None]) -> None:
        self._model = model
        self._on_done = on_done
        self._thread = background_thread("speaker")

    def begin(self, samples: Float32Array, sample_rate_hz: int) -> Pass[Float32Array]:
        """Let it be looked at."""
        future = self._thread.submit(_embedding, self._model, samples, sample_rate_hz)
        future.add_done_callback(lambda _future: self._on_done())
        return Underway(future)

    def close(self) -> None:
        """End the thread when the segment that it is at is done."""
        self._thread.shutdown(cancel_futures=True)


def _embedding(model: EmbeddingModel, samples: Float32Array, sample_rate_hz: int) -> Float32Array | None:
    try:
        return model.embedding(samples, sample_rate_hz)
    except EngineFailed:
        return None
