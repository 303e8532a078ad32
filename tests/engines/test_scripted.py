"""What the script engine is for; the contract suite holds for it too."""

from __future__ import annotations

import numpy as np
import pytest

from edge_asr.engines.base import StreamOptions
from edge_asr.engines.scripted import ScriptedEngine, ScriptedSegmentDecoder, ScriptedWord
from edge_asr.errors import EngineFailed
from tests.support.engine_cases import decode_ready, feed, silence

RATE = 16_000


def test_a_word_comes_when_its_time_is_decoded():
    engine = ScriptedEngine([ScriptedWord("now", 1.0)], chunk_ms=100)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, silence(0.95, RATE), 1600)
    assert stream.hypothesis().text == ""
    feed(engine, stream, silence(0.1, RATE), 1600)
    assert stream.hypothesis().text == "now"


def test_a_look_ahead_delays_the_words():
    engine = ScriptedEngine([ScriptedWord("now", 1.0)], chunk_ms=100, look_ahead_ms=200)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, silence(1.1, RATE), 1600)
    assert stream.hypothesis().text == ""
    stream.finish()
    decode_ready(engine, [stream])
    assert stream.hypothesis().text == "now"


def test_a_reset_begins_a_new_text_and_the_script_goes_on():
    engine = ScriptedEngine([ScriptedWord("one", 0.5), ScriptedWord("two", 1.5)], chunk_ms=100)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, silence(1.0, RATE), 1600)
    stream.reset()
    feed(engine, stream, silence(1.0, RATE), 1600)
    assert [(token.text, token.start_s) for token in stream.hypothesis().tokens] == [(" two", 1.5)]


def test_a_script_with_a_period_never_ends():
    engine = ScriptedEngine([ScriptedWord("tick", 0.5)], chunk_ms=100, period_s=1.0)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, silence(4.0, RATE), 1600)
    assert [token.start_s for token in stream.hypothesis().tokens] == [0.5, 1.5, 2.5, 3.5]


def test_the_first_sample_may_bring_a_word():
    engine = ScriptedEngine([ScriptedWord("at once", 0.0)], chunk_ms=100)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, silence(0.3, RATE), 1600)
    assert stream.hypothesis().text == "at once"


def test_the_hook_sees_every_step():
    batches: list[int] = []
    engine = ScriptedEngine(chunk_ms=100, on_decode=lambda streams: batches.append(len(streams)))
    streams = [engine.open_stream(StreamOptions()) for _ in range(2)]
    for stream in streams:
        stream.accept(silence(0.2, RATE))
    decode_ready(engine, streams)
    assert batches == [2, 2]


def test_the_hook_can_break_the_engine():
    def fail(_streams: object) -> None:
        raise RuntimeError("out of order")

    engine = ScriptedEngine(on_decode=fail)
    stream = engine.open_stream(StreamOptions())
    stream.accept(silence(1.0, RATE))
    with pytest.raises(EngineFailed, match="out of order"):
        engine.decode([stream])


def test_a_scripted_model_is_a_function_of_its_audio():
    decoder = ScriptedSegmentDecoder(lambda samples: f"{len(samples)} samples")
    hypothesis = decoder.decode(np.zeros(3200, np.float32))
    assert hypothesis.text == "3200 samples"
    assert [token.start_s for token in hypothesis.tokens] == [0.0, 0.1]
    assert decoder.decoded_samples == [3200]


def test_a_scripted_model_refuses_what_is_too_long():
    with pytest.raises(ValueError, match=r"at most 1\.0 s"):
        ScriptedSegmentDecoder(str, max_segment_s=1.0).decode(np.zeros(RATE + 1, np.float32))
