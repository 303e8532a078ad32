"""An engine that remembers when each decoding step ran and how long its audio had waited.

The chunk latency of a live stream runs from the moment a microphone would have delivered the last sample that the step
needs to the end of the step: waiting for other streams is part of it. Streams report how much audio they were given;
whoever feeds them says when that audio was released.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from edge_asr.audio import Float32Array
from edge_asr.bench.thinning import Thinned
from edge_asr.clock import Clock
from edge_asr.engines.base import Engine, EngineDescription, EngineStream, Hypothesis, StreamOptions

ReleasedAt = Callable[[float], int]
"""From seconds of a stream's audio to the monotonic time, nanoseconds, at which its source had delivered them."""


class Step(NamedTuple):
    """One decoding step of one stream that was still being fed."""

    at_ns: int
    """When it ended."""
    compute_ms: float
    latency_ms: float


STEADY_STEPS = 3
"""Steps in a row that must take equally long before an engine counts as warm."""


class RecordedEngine:
    """Exactly the engine, but every step of a stream that is still being fed is remembered.

    Args:
        engine: What decodes.
        clock: What times are read from.
        most_steps: Steps that are kept one by one; ``None`` for all. Counts and extremes are exact in any case.
    """

    def __init__(self, engine: Engine, clock: Clock, most_steps: int | None = None) -> None:
        self._engine = engine
        self._clock = clock
        self._most_steps = most_steps
        self._released_at: ReleasedAt | None = None
        self._period_ms = engine.describe().chunk_ms
        self.newest: RecordedStream | None = None
        """The stream that was opened last."""
        self.forget()

    @property
    def sample_rate_hz(self) -> int:
        """The engine's."""
        return self._engine.sample_rate_hz

    def expect(self, released_at: ReleasedAt | None) -> None:
        """Say whose stream the next one is; ``None``: steps of the next stream are not remembered."""
        self._released_at = released_at

    def forget(self) -> None:
        """Begin anew."""
        self.steps: Thinned[Step] = Thinned(self._most_steps)
        self.recent_ms: deque[float] = deque(maxlen=STEADY_STEPS)
        """Time inside the last steps."""
        self.compute_max_ms = self.latency_max_ms = 0.0
        self.missed = 0
        """Steps whose latency was longer than the model's chunk; 0 for models that do not stream."""
        self.decoded_steps = 0
        """Of all streams, those of padding too."""
        self.decoded_s = 0.0
        """Audio given to streams that were opened with :meth:`expect`, seconds."""

    def describe(self) -> EngineDescription:
        """The engine's."""
        return self._engine.describe()

    def open_stream(self, options: StreamOptions) -> RecordedStream:
        """A stream of the engine."""
        self.newest = RecordedStream(self, self._engine.open_stream(options), self._released_at)
        return self.newest

    def decode(self, streams: Sequence[EngineStream]) -> None:
        """One step of each stream, remembered."""
        ours = [stream for stream in streams if isinstance(stream, RecordedStream)]
        started_ns = self._clock.now_ns()
        self._engine.decode([stream.inner for stream in ours])
        ended_ns = self._clock.now_ns()
        self.decoded_steps += len(ours)
        compute_ms = (ended_ns - started_ns) / 1e6
        self.recent_ms.append(compute_ms)
        for stream in ours:
            if stream.released_at is not None and not stream.is_finished:
                latency_ms = (ended_ns - stream.released_at(stream.accepted_s)) / 1e6
                self._remember(Step(ended_ns, compute_ms, latency_ms))

    def close(self) -> None:
        """Free the engine."""
        self._engine.close()

    def _remember(self, step: Step) -> None:
        self.steps.add(step)
        self.compute_max_ms = max(self.compute_max_ms, step.compute_ms)
        self.latency_max_ms = max(self.latency_max_ms, step.latency_ms)
        self.missed += bool(self._period_ms) and step.latency_ms > self._period_ms


class RecordedStream:
    """A stream that knows how much audio it was given."""

    def __init__(self, engine: RecordedEngine, inner: EngineStream, released_at: ReleasedAt | None) -> None:
        self.inner = inner
        self.released_at = released_at
        self.accepted_s = 0.0
        self.is_finished = False
        self._engine = engine

    def accept(self, samples: Float32Array) -> None:
        """Take audio."""
        duration_s = len(samples) / self._engine.sample_rate_hz
        self.accepted_s += duration_s
        if self.released_at is not None:
            self._engine.decoded_s += duration_s
        self.inner.accept(samples)

    def finish(self) -> None:
        """No more audio: what is decoded from now on is padding."""
        self.is_finished = True
        self.inner.finish()

    def is_ready(self) -> bool:
        """The stream's."""
        return self.inner.is_ready()

    def hypothesis(self) -> Hypothesis:
        """The stream's."""
        return self.inner.hypothesis()

    def reset(self) -> None:
        """Begin a new segment."""
        self.inner.reset()

    def close(self) -> None:
        """Give the state back."""
        self.inner.close()
