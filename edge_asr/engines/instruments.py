"""Measuring an engine from inside: a stopwatch around its parts, and the runtime's own profile of its operators.

Used by the bench only; without instruments an engine runs bare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from edge_asr.audio import Float32Array
from edge_asr.clock import Clock, MonotonicClock
from edge_asr.engines.base import (
    Engine,
    EngineDescription,
    EngineStream,
    Hypothesis,
    SegmentDecoder,
    StreamOptions,
    TokenConstraint,
)

if TYPE_CHECKING:
    from edge_asr.engines.vad import VoiceActivity


@dataclass(slots=True)
class Stopwatch:
    """Wall time spent in the parts of an engine since :meth:`reset`, nanoseconds."""

    clock: Clock = field(default_factory=MonotonicClock)
    accept_ns: int = 0
    """Taking samples; of a streaming model, computing its features."""
    decode_ns: int = 0
    """All of ``Engine.decode``; of a non-streaming model with voice activity and the model inside."""
    hypothesis_ns: int = 0
    vad_ns: int = 0
    segment_ns: int = 0
    """Inside the model of a non-streaming engine."""

    def reset(self) -> None:
        """Begin anew."""
        self.accept_ns = self.decode_ns = self.hypothesis_ns = self.vad_ns = self.segment_ns = 0

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        """Add the time of the context to one of the fields."""
        started_ns = self.clock.now_ns()
        try:
            yield
        finally:
            setattr(self, part, getattr(self, part) + self.clock.now_ns() - started_ns)


@dataclass(frozen=True, slots=True)
class Instruments:
    """What a load is to be instrumented with."""

    stopwatch: Stopwatch | None = None
    profile_prefix: str = ""
    """Path prefix of the operator profiles that ONNX Runtime writes when the engine is freed; empty for none."""


NO_INSTRUMENTS = Instruments()


class TimedEngine:
    """An engine whose parts are timed; otherwise exactly the engine."""

    def __init__(self, engine: Engine, stopwatch: Stopwatch) -> None:
        self._engine = engine
        self._stopwatch = stopwatch

    @property
    def sample_rate_hz(self) -> int:
        """The engine's."""
        return self._engine.sample_rate_hz

    def describe(self) -> EngineDescription:
        """The engine's."""
        return self._engine.describe()

    def open_stream(self, options: StreamOptions) -> TimedStream:
        """A stream of the engine, timed."""
        return TimedStream(self._engine.open_stream(options), self._stopwatch)

    def decode(self, streams: Sequence[EngineStream]) -> None:
        """One step of each stream."""
        inner = [stream.inner if isinstance(stream, TimedStream) else stream for stream in streams]
        with self._stopwatch.timing("decode_ns"):
            self._engine.decode(inner)

    def close(self) -> None:
        """Free the engine."""
        self._engine.close()


class TimedStream:
    """A stream whose calls are timed."""

    def __init__(self, inner: EngineStream, stopwatch: Stopwatch) -> None:
        self.inner = inner
        self._stopwatch = stopwatch

    def accept(self, samples: Float32Array) -> None:
        """Take audio."""
        with self._stopwatch.timing("accept_ns"):
            self.inner.accept(samples)

    def finish(self) -> None:
        """No more audio."""
        with self._stopwatch.timing("accept_ns"):
            self.inner.finish()

    def is_ready(self) -> bool:
        """The stream's."""
        return self.inner.is_ready()

    def hypothesis(self) -> Hypothesis:
        """The stream's."""
        with self._stopwatch.timing("hypothesis_ns"):
            return self.inner.hypothesis()

    def reset(self) -> None:
        """Begin a new segment."""
        self.inner.reset()

    def close(self) -> None:
        """Give the state back."""
        self.inner.close()


class TimedSegmentDecoder:
    """A non-streaming model, timed."""

    def __init__(self, decoder: SegmentDecoder, stopwatch: Stopwatch) -> None:
        self._decoder = decoder
        self._stopwatch = stopwatch

    @property
    def sample_rate_hz(self) -> int:
        """The model's."""
        return self._decoder.sample_rate_hz

    @property
    def max_segment_s(self) -> float:
        """The model's."""
        return self._decoder.max_segment_s

    def decode(self, samples: Float32Array, constraint: TokenConstraint | None = None) -> Hypothesis:
        """Recognise one stretch."""
        with self._stopwatch.timing("segment_ns"):
            return self._decoder.decode(samples, constraint)


class TimedVoiceActivity:
    """A voice activity detector, timed."""

    def __init__(self, activity: VoiceActivity, stopwatch: Stopwatch) -> None:
        self._activity = activity
        self._stopwatch = stopwatch

    def hears_speech(self, window: Float32Array, level_dbfs: float) -> bool:
        """The detector's."""
        with self._stopwatch.timing("vad_ns"):
            return self._activity.hears_speech(window, level_dbfs)

    def reset(self) -> None:
        """Begin with another stream."""
        self._activity.reset()
