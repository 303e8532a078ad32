"""The recogniser under test: the same sessions, scheduler and engine as in the daemon, with eyes on everything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from edge_asr.bench.document import Sample
from edge_asr.bench.recorder import RecordedEngine
from edge_asr.clock import Clock
from edge_asr.engines.instruments import Stopwatch
from edge_asr.sessions.decode_loop import DecodeLoop

MOST_SAMPLES = 500
"""When there are more, every second one goes and the pause between two doubles: a soak of a day takes 250 to 500."""

SOAK_FROM_S = 600.0
"""Longer measurements keep an even sample of what they heard, so that their own notes do not look like a leak."""

SOAK_UTTERANCES = 250
SOAK_STEPS = 1000


@dataclass(frozen=True, slots=True)
class Notebook:
    """How much of a run is written down one by one; counts and extremes are exact in any case."""

    most_utterances: int | None = None
    most_steps: int | None = None
    sample_every_s: float = 1.0

    @classmethod
    def for_run_of(cls, seconds: float, sample_every_s: float = 1.0) -> Notebook:
        """That of a run of about this length."""
        is_soak = seconds > SOAK_FROM_S
        return cls(SOAK_UTTERANCES if is_soak else None, SOAK_STEPS if is_soak else None, sample_every_s)


@dataclass(frozen=True, slots=True)
class Readings:
    """What the machine and the process say of themselves at one moment."""

    rss_bytes: int
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
    cpu_ns: Callable[[], int]
    """User and system time of the process so far."""
    language: str = "en"
    piece_ms: int = 100
    notebook: Notebook = field(default_factory=Notebook)
    is_stopping: Callable[[], bool] = lambda: False
    """Whether somebody has asked to end early: recordings that were begun are heard to their end."""
    samples: list[Sample] = field(default_factory=list)
    _started_ns: int = 0
    _started_cpu_ns: int = 0
    _sampled_ns: int = 0
    _pause_ns: int = 0

    @property
    def tail_s(self) -> float:
        """Silence that the engine appends to each recording, at most."""
        return self.engine.describe().tail_padding_ms / 1000

    def begin(self) -> None:
        """Forget what was measured so far."""
        self.samples.clear()
        self._pause_ns = round(self.notebook.sample_every_s * 1e9)
        self.stopwatch.reset()
        self._started_ns = self._sampled_ns = self.clock.now_ns()
        self._started_cpu_ns = self.cpu_ns()

    @property
    def started_ns(self) -> int:
        """When :meth:`begin` was called."""
        return self._started_ns

    def elapsed(self) -> tuple[float, float]:
        """Wall and processor time since :meth:`begin`, seconds."""
        return (self.clock.now_ns() - self._started_ns) / 1e9, (self.cpu_ns() - self._started_cpu_ns) / 1e9

    def sample(self, audio_s: float, busy_ns: int = 0) -> None:
        """Remember the state of things, as often as the notebook says.

        Args:
            audio_s: Audio decoded since :meth:`begin`, all streams.
            busy_ns: Processing time since then; 0 at live pace, where the processor's time stands for it.
        """
        now_ns = self.clock.now_ns()
        if self.samples and now_ns - self._sampled_ns < self._pause_ns:
            return
        self._sampled_ns = now_ns
        readings = self.read()
        self.samples.append(
            Sample(
                at_s=round((now_ns - self._started_ns) / 1e9, 3),
                rss_bytes=readings.rss_bytes,
                audio_s=round(audio_s, 3),
                cpu_s=(self.cpu_ns() - self._started_cpu_ns) / 1e9,
                busy_s=busy_ns / 1e9,
                celsius=readings.celsius,
                frequency_khz=readings.frequency_khz,
            )
        )
        if len(self.samples) > MOST_SAMPLES:
            del self.samples[1::2]
            self._pause_ns *= 2
