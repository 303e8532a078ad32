from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from edge_asr.clock import ManualClock
from edge_asr.engines.base import EngineDescription
from edge_asr.engines.scripted import ScriptedEngine, ScriptedStream
from edge_asr.workers.step_time import step_seconds


def test_the_fastest_of_some_steps_counts() -> None:
    clock = ManualClock()
    durations_ms = iter([500, 200, 100, 300])

    def take_time(_streams: Sequence[ScriptedStream]) -> None:
        clock.advance_ms(next(durations_ms))

    assert step_seconds(ScriptedEngine(on_decode=take_time), clock) == 0.1
    assert list(durations_ms) == []


def test_a_very_slow_model_is_not_measured_to_the_end() -> None:
    clock = ManualClock()
    assert step_seconds(ScriptedEngine(on_decode=lambda _streams: clock.advance_ms(3000)), clock) == 3.0
    assert clock.now_ns() == 3_000_000_000


class Stretches(ScriptedEngine):
    """A model that decodes whole stretches of speech."""

    def describe(self) -> EngineDescription:
        return replace(super().describe(), is_streaming=False)


def test_a_model_of_whole_stretches_has_no_steps() -> None:
    assert step_seconds(Stretches()) == 0.0
