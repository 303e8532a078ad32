"""When voices are looked at: at once, or on a thread that gives way."""

from __future__ import annotations

import os
import threading

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.embedding_pass import BackgroundEmbedding, InlineEmbedding
from edge_asr.engines.passes import GIVING_WAY
from edge_asr.errors import EngineFailed

RATE_HZ = 16_000
PATIENCE_S = 30.0
SAMPLES = np.full(3, 0.5, np.float32)


class Summing:
    """The embedding is the sum."""

    def __init__(self) -> None:
        self.niceness: list[int] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def embedding(self, samples: Float32Array, sample_rate_hz: int) -> Float32Array | None:
        assert self.may_go_on.wait(PATIENCE_S)
        self.niceness.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return np.array([samples.sum(), sample_rate_hz], np.float32)


class Broken:
    def embedding(self, samples: Float32Array, sample_rate_hz: int) -> Float32Array | None:
        raise EngineFailed("broken")


def told(embedding: Float32Array | None) -> list[float]:
    assert embedding is not None
    return [float(number) for number in embedding]


def test_inline_it_is_done_at_once() -> None:
    looked = InlineEmbedding(Summing()).begin(SAMPLES, RATE_HZ)
    assert looked.is_done
    assert told(looked.result) == [1.5, RATE_HZ]


def test_in_the_background_it_gives_way_and_says_when_it_is_done() -> None:
    model, done = Summing(), threading.Event()
    model.may_go_on.clear()
    background = BackgroundEmbedding(model, done.set)
    looked = background.begin(SAMPLES, RATE_HZ)
    assert not looked.is_done
    model.may_go_on.set()
    assert done.wait(PATIENCE_S)
    assert (looked.is_done, told(looked.result)) == (True, [1.5, RATE_HZ])
    assert model.niceness == [max(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()), GIVING_WAY)]
    background.close()


def test_what_nobody_waits_for_any_more_is_not_looked_at() -> None:
    model, done = Summing(), threading.Semaphore(0)
    model.may_go_on.clear()
    background = BackgroundEmbedding(model, done.release)
    first, second = (background.begin(SAMPLES, RATE_HZ) for _ in range(2))
    second.give_up()
    model.may_go_on.set()
    assert all(done.acquire(timeout=PATIENCE_S) for _ in range(2))
    assert (told(first.result), second.result) == ([1.5, RATE_HZ], None)
    assert len(model.niceness) == 1
    background.close()


def test_a_model_that_fails_gives_none() -> None:
    assert InlineEmbedding(Broken()).begin(SAMPLES, RATE_HZ).result is None
