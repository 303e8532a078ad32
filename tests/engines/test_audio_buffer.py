from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.engines.audio_buffer import AudioBuffer


@given(st.lists(st.tuples(st.integers(0, 40_000), st.floats(0, 1))))
def test_what_is_held_is_what_came(rounds):
    buffer = AudioBuffer()
    came = np.zeros(0, np.float32)
    for length, share_forgotten in rounds:
        new = np.arange(len(came), len(came) + length, dtype=np.float32)
        buffer.append(new)
        came = np.concatenate([came, new])
        buffer.forget_before(buffer.start + round(share_forgotten * (buffer.end - buffer.start)))
        assert buffer.end == len(came)
        assert np.array_equal(buffer.view(buffer.start, buffer.end), came[buffer.start :])


def test_forgotten_samples_cannot_be_seen():
    buffer = AudioBuffer()
    buffer.append(np.zeros(100, np.float32))
    buffer.forget_before(50)
    with pytest.raises(IndexError, match="samples 49 to 60; 50 to 100 are held"):
        buffer.view(49, 60)


def test_samples_that_have_not_come_cannot_be_seen():
    buffer = AudioBuffer()
    with pytest.raises(IndexError):
        buffer.view(0, 1)


def test_forgetting_never_goes_beyond_what_came():
    buffer = AudioBuffer()
    buffer.append(np.zeros(10, np.float32))
    buffer.forget_before(100)
    assert (buffer.start, buffer.end) == (10, 10)


def test_a_long_stream_takes_no_more_memory_than_what_is_held():
    buffer = AudioBuffer()
    for _ in range(500):
        buffer.append(np.zeros(16_000, np.float32))
        buffer.forget_before(buffer.end - 5_000)
    assert buffer._store.size <= 100_000
