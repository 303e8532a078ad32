"""An engine whose parts are timed is otherwise exactly the engine."""

from __future__ import annotations

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.clock import ManualClock
from edge_asr.engines.base import StreamOptions
from edge_asr.engines.instruments import Stopwatch, TimedEngine, TimedSegmentDecoder, TimedVoiceActivity
from edge_asr.engines.scripted import ScriptedEngine, ScriptedSegmentDecoder, ScriptedWord

RATE_HZ = 16_000
SECOND = np.zeros(RATE_HZ, np.float32)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_time_inside_a_part_is_added_up(clock):
    watch = Stopwatch(clock)
    for _ in range(2):
        with watch.timing("vad_ns"):
            clock.advance_ms(3)
        clock.advance_ms(100)
    assert (watch.vad_ns, watch.decode_ns) == (6_000_000, 0)


def test_time_before_an_error_counts(clock):
    watch = Stopwatch(clock)
    with pytest.raises(ValueError, match="broken"), watch.timing("decode_ns"):
        clock.advance_ms(3)
        raise ValueError("broken")
    assert watch.decode_ns == 3_000_000


def test_a_reset_begins_anew(clock):
    watch = Stopwatch(clock)
    with watch.timing("accept_ns"):
        clock.advance_ms(3)
    watch.reset()
    assert watch.accept_ns == 0


def test_a_step_is_timed_and_says_the_same(clock):
    watch = Stopwatch(clock)
    bare = ScriptedEngine([ScriptedWord("go", 0.5)], chunk_ms=100, on_decode=lambda _streams: clock.advance_ms(7))
    engine = TimedEngine(bare, watch)
    stream = engine.open_stream(StreamOptions())
    stream.accept(SECOND)
    stream.finish()
    while stream.is_ready():
        engine.decode([stream])
    assert stream.hypothesis().text == "go"
    assert watch.decode_ns == 70_000_000
    stream.reset()
    assert stream.hypothesis().text == ""
    stream.close()
    assert not stream.is_ready()
    assert (engine.sample_rate_hz, engine.describe()) == (RATE_HZ, bare.describe())


def test_a_model_of_stretches_is_timed_and_says_the_same(clock):
    def recognise(_samples: Float32Array) -> str:
        clock.advance_ms(40)
        return "go on"

    watch = Stopwatch(clock)
    decoder = TimedSegmentDecoder(ScriptedSegmentDecoder(recognise, max_segment_s=12.0), watch)
    assert decoder.decode(SECOND).text == "go on"
    assert watch.segment_ns == 40_000_000
    assert (decoder.sample_rate_hz, decoder.max_segment_s) == (RATE_HZ, 12.0)


def test_voice_activity_is_timed_and_says_the_same(clock):
    class Activity:
        is_reset = False

        def hears_speech(self, window: Float32Array, level_dbfs: float) -> bool:
            clock.advance_ms(2)
            return level_dbfs > -40

        def reset(self) -> None:
            self.is_reset = True

    watch, bare = Stopwatch(clock), Activity()
    activity = TimedVoiceActivity(bare, watch)
    assert activity.hears_speech(SECOND, -30.0)
    assert not activity.hears_speech(SECOND, -60.0)
    assert watch.vad_ns == 4_000_000
    activity.reset()
    assert bare.is_reset
