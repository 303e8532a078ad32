"""How long a decoding step takes on this machine, measured once when a model is loaded.

A daemon that has never decoded anything must not open more sessions than it can carry; later its own work tells more.
"""

from __future__ import annotations

import numpy as np

from edge_asr.clock import Clock, MonotonicClock
from edge_asr.engines.base import Engine, StreamOptions

STEPS = 4
"""Of which the fastest counts: the first ones still fill caches, and something else may have run."""
LONGEST_S = 2.0
"""A model so slow is not measured to the end."""
PIECE_S = 0.1
MOST_AUDIO_S = 30.0


def step_seconds(engine: Engine, clock: Clock | None = None) -> float:
    """Seconds of a step of one stream, its audio taken in and its text read; of silence.

    0 for models that decode whole stretches of speech.
    """
    if not engine.describe().is_streaming:
        return 0.0
    clock = clock or MonotonicClock()
    stream = engine.open_stream(StreamOptions())
    silence = np.zeros(round(PIECE_S * engine.sample_rate_hz), np.float32)
    taken: list[float] = []
    try:
        started_ns = clock.now_ns()
        for _ in range(round(MOST_AUDIO_S / PIECE_S)):
            stream.accept(silence)
            while stream.is_ready() and len(taken) < STEPS and sum(taken) < LONGEST_S:
                engine.decode([stream])
                stream.hypothesis()
                ended_ns = clock.now_ns()
                taken.append((ended_ns - started_ns) / 1e9)
                started_ns = ended_ns
            if len(taken) >= STEPS or sum(taken) >= LONGEST_S:
                break
    finally:
        stream.close()
    return min(taken, default=0.0)
