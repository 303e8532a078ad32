"""When the voice of a segment is looked at: :class:`BackgroundEmbedding` on a thread of its own that gives way to the
decoding of words, :class:`InlineEmbedding` at once, where nothing else is to be done.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from edge_asr.audio import Float32Array
from edge_asr.engines.second_pass import give_way
from edge_asr.errors import EngineFailed


class EmbeddingModel(Protocol):
    """As :class:`edge_asr.engines.speaker.SpeakerModel`."""

    def embedding(self, samples: Float32Array, sample_rate_hz: int) -> Float32Array | None:
        """Of the speech in the samples; ``None`` where there is too little. Raises ``EngineFailed``."""
        ...


class EmbeddingPass(Protocol):
    """One segment on its way."""

    @property
    def is_done(self) -> bool:
        """Whether there is an :attr:`embedding`, or will never be one."""
        ...

    @property
    def embedding(self) -> Float32Array | None:
        """Shape (n,); ``None`` where there was too little speech, or the model failed."""
        ...

    def give_up(self) -> None:
        """Nobody waits for it any more."""
        ...


class Embedder(Protocol):
    """Takes segments."""

    def begin(self, samples: Float32Array, sample_rate_hz: int) -> EmbeddingPass:
        """Look at a segment: mono PCM, shape (n,)."""
        ...


class InlineEmbedding:
    """At once, on the thread that asks.

    Args:
        model: What is asked.
    """

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    def begin(self, samples: Float32Array, sample_rate_hz: int) -> EmbeddingPass:
        """Look at it now."""
        return _Done(_embedding(self._model, samples, sample_rate_hz))


class BackgroundEmbedding:
    """On a thread of its own, one segment after the other.

    Args:
        model: Used by that thread only.
        on_done: Called on that thread when a segment is done.
    """

    def __init__(self, model: EmbeddingModel, on_done: Callable[[], None]) -> None:
        self._model = model
        self._on_done = on_done
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="speaker", initializer=give_way)

    def begin(self, samples: Float32Array, sample_rate_hz: int) -> EmbeddingPass:
        """Let it be looked at."""
        future = self._thread.submit(_embedding, self._model, samples, sample_rate_hz)
        future.add_done_callback(lambda _future: self._on_done())
        return _Underway(future)

    def close(self) -> None:
        """End the thread when the segment that it is at is done."""
        self._thread.shutdown(cancel_futures=True)


class _Done:
    is_done = True

    def __init__(self, embedding: Float32Array | None) -> None:
        self.embedding = embedding

    def give_up(self) -> None:
        """It is done."""


class _Underway:
    def __init__(self, future: Future[Float32Array | None]) -> None:
        self._future = future

    @property
    def is_done(self) -> bool:
        return self._future.done()

    @property
    def embedding(self) -> Float32Array | None:
        return None if self._future.cancelled() else self._future.result()

    def give_up(self) -> None:
        self._future.cancel()


def _embedding(model: EmbeddingModel, samples: Float32Array, sample_rate_hz: int) -> Float32Array | None:
    try:
        return model.embedding(samples, sample_rate_hz)
    except EngineFailed:
        return None
