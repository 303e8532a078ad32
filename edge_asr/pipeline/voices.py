"""Whose voice an embedding is: the enrolled one with the smallest angle to it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.events import Speaker


class Voices:
    """Enrolled voices.

    Args:
        embeddings: Name to embedding, all of the same model; of any length but 0.
        threshold: Cosine from which on a voice counts as the enrolled one.
    """

    def __init__(self, embeddings: Mapping[str, Sequence[float]], threshold: float) -> None:
        self._names = tuple(embeddings)
        self._directions = np.array([direction(np.array(each, np.float32)) for each in embeddings.values()], np.float32)
        self._threshold = threshold

    def __len__(self) -> int:
        """How many."""
        return len(self._names)

    def who(self, embedding: Float32Array) -> Speaker | None:
        """The nearest voice, without its name where it is not near enough; ``None`` where nobody is enrolled.

        Args:
            embedding: Of the same model, shape (n,).
        """
        if not self._names:
            return None
        likeness = self._directions @ direction(embedding)
        nearest = int(likeness.argmax())
        score = min(1.0, max(-1.0, float(likeness[nearest])))
        return Speaker(self._names[nearest] if score >= self._threshold else None, score)


def direction(embedding: Float32Array) -> Float32Array:
    """The embedding at length 1, shape (n,); zeros stay zeros."""
    length = float(np.linalg.norm(embedding))
    return embedding if length == 0 else cast("Float32Array", (embedding / length).astype(np.float32))


def mean_direction(embeddings: Sequence[Float32Array]) -> Float32Array:
    """The direction between several recordings of one voice, each counting the same, shape (n,)."""
    return direction(np.mean([direction(each) for each in embeddings], axis=0, dtype=np.float32))
