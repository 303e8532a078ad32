"""A non-streaming model that hears each segment once more, when it is over, for its final.

:class:`BackgroundPass` does it on a thread of its own that gives way to everything else, so that a stream whose turn it
is never waits; :class:`InlinePass` does it at once, where nothing else is to be done.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Protocol

from edge_asr.audio import Float32Array
from edge_asr.clock import Clock
from edge_asr.engines.base import Hypothesis, SegmentDecoder
from edge_asr.engines.passes import Done, Pass, Underway, background_thread
from edge_asr.engines.whole_stretch import loud_part_s
from edge_asr.errors import EngineFailed

MARGIN_S = 0.32
"""Audio that is kept before and after the loud part of a segment: words begin and end softly."""

NEWEST_SHARE = 0.3
"""Weight of the newest pass in what passes are expected to take."""

FORGOTTEN_S = 10.0
"""Half of that is forgotten in so much time without a pass, so that another one is tried after a busy while."""


class SecondPass(Protocol):
    """Takes segments."""

    @property
    def max_segment_s(self) -> float:
        """Longest segment, seconds."""
        ...

    def expected_s(self, samples: int) -> float:
        """Seconds until a segment of so many samples would be done; 0 while nobody knows."""
        ...

    def begin(self, samples: Float32Array) -> Pass[Hypothesis]:
        """Hear a segment: mono PCM, shape (n,). What comes of it has times relative to the first sample."""
        ...


class InlinePass:
    """At once, on the thread that asks.

    Args:
        decoder: The model.
    """

    def __init__(self, decoder: SegmentDecoder) -> None:
        self._decoder = decoder
        self.max_segment_s = decoder.max_segment_s

    def expected_s(self, samples: int) -> float:  # noqa: ARG002  the protocol's
        """Nobody is kept waiting but the one who asks."""
        return 0.0

    def begin(self, samples: Float32Array) -> Pass[Hypothesis]:
        """Hear it now."""
        return Done(hear(self._decoder, samples))


class BackgroundPass:
    """On a thread of its own, one segment after the other.

    Args:
        decoder: The model; used by that thread only.
        clock: What passes are timed with.
        on_done: Called on that thread when a pass is over.
    """

    def __init__(self, decoder: SegmentDecoder, clock: Clock, on_done: Callable[[], None]) -> None:
        self._decoder = decoder
        self._clock = clock
        self._on_done = on_done
        self.max_segment_s = decoder.max_segment_s
        self._thread = background_thread("second-pass")
        self._lock = threading.Lock()
        self._waiting_samples = 0
        self._seconds_per_sample = 0.0
        self._measured_ns = 0

    def expected_s(self, samples: int) -> float:
        """By what passes took lately, those that wait before it included."""
        age_s = (self._clock.now_ns() - self._measured_ns) / 1e9
        return (self._waiting_samples + samples) * self._seconds_per_sample * math.exp2(-age_s / FORGOTTEN_S)

    def begin(self, samples: Float32Array) -> Pass[Hypothesis]:
        """Let it be heard."""
        with self._lock:
            self._waiting_samples += len(samples)
        future = self._thread.submit(self._hear, samples)
        future.add_done_callback(lambda _future: self._leave(len(samples)))
        return Underway(future)

    def close(self) -> None:
        """End the thread when the pass that is running is done."""
        self._thread.shutdown(cancel_futures=True)

    def _hear(self, samples: Float32Array) -> Hypothesis | None:
        began_ns = self._clock.now_ns()
        heard = hear(self._decoder, samples)
        self._measured_ns = self._clock.now_ns()
        took = (self._measured_ns - began_ns) / 1e9 / max(1, len(samples))
        share = NEWEST_SHARE if self._seconds_per_sample else 1.0
        self._seconds_per_sample += share * (took - self._seconds_per_sample)
        return heard

    def _leave(self, samples: int) -> None:
        with self._lock:
            self._waiting_samples -= samples
        self._on_done()


def hear(decoder: SegmentDecoder, samples: Float32Array) -> Hypothesis | None:
    """The loud part of a segment through the model; ``None`` where the model fails on it."""
    rate_hz = decoder.sample_rate_hz
    begin_s, end_s = loud_part_s(samples, rate_hz)
    begin = max(0, round((begin_s - MARGIN_S) * rate_hz))
    try:
        heard = decoder.decode(samples[begin : round((end_s + MARGIN_S) * rate_hz)])
    except EngineFailed:
        return None
    return heard.later(begin / rate_hz, len(samples))
