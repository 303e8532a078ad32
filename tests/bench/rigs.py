"""Recognisers under test in which nothing takes time but what a test says; the clock moves by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.bench.recorder import RecordedEngine
from edge_asr.bench.rig import Notebook, Readings, Rig
from edge_asr.clock import ManualClock
from edge_asr.engines.base import EngineStream, Hypothesis, StreamOptions, TokenConstraint
from edge_asr.engines.instruments import Stopwatch, TimedEngine, TimedSegmentDecoder
from edge_asr.engines.passes import Pass
from edge_asr.engines.scripted import DecodeHook, ScriptedEngine, ScriptedStream, ScriptedWord
from edge_asr.engines.second_pass import InlinePass
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.second_hearing import SecondHearing
from edge_asr.sessions.understanding import Understanding
from edge_asr.settings import EndpointSettings, SchedulerSettings, SecondPassSettings
from edge_asr.workload import AlignedWord, Clip, ClipAudio

RATE_HZ = 16_000
MIB = 1 << 20


@dataclass
class Costs:
    """Milliseconds that each part takes."""

    feed: float = 0.0
    """Each piece handed to a session."""
    accept: float = 0.0
    """Each piece of up to 100 ms handed to the engine."""
    decode: float = 0.0
    """Each step, however many streams it decodes."""
    hypothesis: float = 0.0
    """Each look at the text."""


class CostlyStream(ScriptedStream):
    def __init__(self, engine: CostlyEngine) -> None:
        super().__init__(engine)
        self.costly = engine

    def accept(self, samples: Float32Array) -> None:
        self.costly.clock.advance_ms(self.costly.costs.accept)
        super().accept(samples)

    def hypothesis(self) -> Hypothesis:
        self.costly.clock.advance_ms(self.costly.costs.hypothesis)
        return super().hypothesis()


class CostlyEngine(ScriptedEngine):
    """A scripted engine whose parts take time on a clock that moves by hand."""

    def __init__(
        self,
        clock: ManualClock,
        costs: Costs,
        script: Sequence[ScriptedWord],
        *,
        chunk_ms: int,
        look_ahead_ms: int,
        on_decode: DecodeHook | None,
    ) -> None:
        super().__init__(script, chunk_ms=chunk_ms, look_ahead_ms=look_ahead_ms, on_decode=on_decode)
        self.clock = clock
        self.costs = costs
        self.batches: list[int] = []

    def open_stream(self, options: StreamOptions) -> CostlyStream:
        return CostlyStream(self)

    def decode(self, streams: Sequence[EngineStream]) -> None:
        self.batches.append(len(streams))
        self.clock.advance_ms(self.costs.decode)
        super().decode(streams)


class CostlyLoop(DecodeLoop):
    """Sessions that take time to feed."""

    costly: CostlyEngine

    def feed_bytes(self, session_id: str, data: bytes) -> None:
        self.costly.clock.advance_ms(self.costly.costs.feed)
        super().feed_bytes(session_id, data)


BETTER = Hypothesis("better", (), 0)


@dataclass
class CostlyDecoder:
    """A second model that always says the same."""

    clock: ManualClock
    takes_ms: float
    sample_rate_hz: int = RATE_HZ
    max_segment_s: float = 30.0

    def decode(self, samples: Float32Array, constraint: TokenConstraint | None = None) -> Hypothesis:
        self.clock.advance_ms(self.takes_ms)
        return BETTER


@dataclass
class LivePass:
    """A second pass that is done when its time has come; it never fails to tell whoever sleeps."""

    clock: ManualClock
    takes_ms: float
    done_ns: int = 0
    max_segment_s: float = 30.0
    result: Hypothesis | None = BETTER

    @property
    def is_done(self) -> bool:
        return self.clock.now_ns() >= self.done_ns

    def expected_s(self, samples: int) -> float:
        return 0.0

    def begin(self, samples: Float32Array) -> Pass[Hypothesis]:
        self.done_ns = self.clock.now_ns() + round(self.takes_ms * 1e6)
        return self

    def give_up(self) -> None:
        pass


@dataclass
class Bench:
    """A rig, and what drives it."""

    rig: Rig
    engine: CostlyEngine
    clock: ManualClock
    rss_bytes: list[int] = field(default_factory=lambda: [50 * MIB])
    """What the process holds; the last one is read."""
    overslept_ms: float = 0.0
    """By so much every sleep is too long."""
    live_pass: LivePass | None = None
    """Ends a sleep when it is done."""
    looks: int = 0
    """How often somebody slept."""

    def sleep(self, seconds: float) -> None:
        self.looks += 1
        milliseconds = seconds * 1000 + self.overslept_ms
        if self.live_pass and not self.live_pass.is_done:
            milliseconds = min(milliseconds, (self.live_pass.done_ns - self.clock.now_ns()) / 1e6)
        self.clock.advance_ms(milliseconds)


def bench(
    *words: tuple[str, float],
    costs: Costs | None = None,
    chunk_ms: int = 100,
    look_ahead_ms: int = 0,
    piece_ms: int = 100,
    silence_ms: int = 400,
    max_batch: int = 16,
    window_ms: int = 0,
    notebook: Notebook | None = None,
    on_decode: Callable[[Sequence[ScriptedStream]], None] | None = None,
    second_pass_ms: float | None = None,
    is_second_pass_live: bool = False,
) -> Bench:
    """A recogniser that says each word when the audio up to its second is decoded.

    With ``second_pass_ms`` a second model, which takes so long for each segment, says "better" for its final.
    """
    clock = ManualClock(1_000_000_000)
    watch = Stopwatch(clock)
    script = [ScriptedWord(text, at_s) for text, at_s in words]
    costly = CostlyEngine(
        clock, costs or Costs(), script, chunk_ms=chunk_ms, look_ahead_ms=look_ahead_ms, on_decode=on_decode
    )
    notes = notebook or Notebook()
    engine = RecordedEngine(TimedEngine(costly, watch), clock, notes.most_steps)
    scheduler = SchedulerSettings(max_batch=max_batch, window_ms=window_ms, accumulate_ms=0)
    live_pass = LivePass(clock, second_pass_ms or 0.0) if is_second_pass_live else None
    inline_pass = InlinePass(TimedSegmentDecoder(CostlyDecoder(clock, second_pass_ms or 0.0), watch))
    second_hearing = SecondHearing(live_pass or inline_pass, SecondPassSettings("better"), "as_is", clock)
    loop = CostlyLoop(
        engine,
        EndpointSettings(silence_ms=silence_ms),
        scheduler,
        clock,
        Understanding(second_hearing=None if second_pass_ms is None else second_hearing),
    )
    loop.costly = costly
    made = Bench(
        Rig(
            loop=loop,
            engine=engine,
            stopwatch=watch,
            clock=clock,
            read=lambda: Readings(rss_bytes=made.rss_bytes[-1]),
            cpu_ns=clock.now_ns,
            piece_ms=piece_ms,
            notebook=notes,
        ),
        costly,
        clock,
        live_pass=live_pass,
    )
    made.rig.begin()
    return made


def clip(
    audio_s: float,
    reference: str = "",
    *,
    name: str = "clip",
    onset_s: float = 0.0,
    end_s: float | None = None,
    words: tuple[AlignedWord, ...] = (),
) -> ClipAudio:
    """A recording of that length; what is in it matters to nobody here."""
    return ClipAudio(
        Clip(name, Path(name), reference, words=words),
        np.zeros(round(audio_s * RATE_HZ), np.int16),
        RATE_HZ,
        onset_s,
        audio_s if end_s is None else end_s,
    )
