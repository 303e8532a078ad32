"""Whose voice an embedding is."""

from __future__ import annotations

import numpy as np
import pytest

from edge_asr.events import Speaker
from edge_asr.pipeline.voices import Voices, direction, mean_direction

ENROLLED = {"Anna": (2.0, 0.0), "Bob": (0.0, 0.5)}


def vector(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def test_the_nearest_voice_is_named_whatever_the_length() -> None:
    assert Voices(ENROLLED, 0.6).who(vector(0.0, 30.0)) == Speaker("Bob", 1.0)


def test_one_that_is_not_near_enough_has_a_score_and_no_name() -> None:
    found = Voices(ENROLLED, 0.9).who(vector(3.0, 4.0))
    assert found is not None
    assert found.name is None
    assert found.score == pytest.approx(0.8)


def test_the_threshold_itself_is_near_enough() -> None:
    assert Voices(ENROLLED, 1.0).who(vector(1.0, 0.0)) == Speaker("Anna", 1.0)


def test_nobody_is_enrolled() -> None:
    assert Voices({}, 0.6).who(vector(1.0, 0.0)) is None


def test_an_embedding_of_zeros_is_like_nobody() -> None:
    assert Voices(ENROLLED, 0.6).who(vector(0.0, 0.0)) == Speaker(None, 0.0)


def test_recordings_count_the_same_however_long_their_embeddings_are() -> None:
    assert mean_direction([vector(10.0, 0.0), vector(0.0, 0.1)]) == pytest.approx(direction(vector(1.0, 1.0)))
