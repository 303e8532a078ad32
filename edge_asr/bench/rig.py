"""The recogniser under test: the same sessions, scheduler and engine as in the daemon, with eyes on everything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from edge_asr.bench.document import Sample
from edge_asr.bench.recorder import RecordedEngine
from edge_asr.clock import Clock
from edge_asr.engines.instruments import Stopwatch
from edge_asr.sessions.decode_loop import DecodeLoop

SAMPLE_EVERY_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Readings:
    """What the machine and the process say of themselves at one moment."""

    rss_bytes: int
    cpu_ns: int
    """User and system time of the process so far."""
    celsius: float | None = None
    frequency_khz: int | None = None


@dataclass(slots=True)
class Rig:
    """What a measurement works with."""

    loop: DecodeLoop
    engine: RecordedEngine
    """The engine of ``loop``."""
    stopwatch: Stopwatch
    clock: Clock
    read: Callable[[], Readings]
    language: str = "en"
    piece_ms: int = 100
    samples: list[Sample] = field(default_factory=list)
    _started_ns: int = 0
    _started_cpu_ns: int = 0
    _sampled_ns: int = 0

    @property
    def tail_s(self) -> float:
        """Silence that the engine appends to each recording, at most."""
        return self.engine.describe().tail_padding_ms / 1000

    def begin(self) -> None:
        """Forget what was measured so far."""
        self.samples.clear()
        self.stopwatch.reset()
        self._started_ns = self._sampled_ns = self.clock.now_ns()
        self._started_cpu_ns = self.read().cpu_ns

    def elapsed(self) -> tuple[float, float]:
        """Wall and processor time since :meth:`begin`, seconds."""
        return (self.clock.now_ns() - self._started_ns) / 1e9, (self.read().cpu_ns - self._started_cpu_ns) / 1e9

    def sample(self, audio_s: float) -> None:
        """Remember the state of things, at most once a second.

        Args:
            audio_s: Audio decoded since :meth:`begin`, all streams.
        """
        now_ns = self.clock.now_ns()
        if self.samples and now_ns - self._sampled_ns < SAMPLE_EVERY_NS:
            return
        self._sampled_ns = now_ns
        readings = self.read()
        self.samples.append(
            Sample(
                at_s=round((now_ns - self._started_ns) / 1e9, 3),
                rss_bytes=readings.rss_bytes,
                audio_s=round(audio_s, 3),
                cpu_s=(readings.cpu_ns - self._started_cpu_ns) / 1e9,
                celsius=readings.celsius,
                frequency_khz=readings.frequency_khz,
            )
        )
