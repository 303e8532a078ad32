from __future__ import annotations

import numpy as np
import pytest

from edge_asr.audio import AudioChunk
from edge_asr.clock import ManualClock
from edge_asr.errors import LimitExceeded
from edge_asr.events import Failed, Final, SessionEnded, TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.settings import SchedulerSettings
from tests.sessions.conftest import RATE_HZ, RULES, SayingEngine, SayingStream, chunk, of_kind, samples

SLOW = SessionOptions(sample_rate_hz=4000)
"""Bytes at the lowest rate that clients may use; the engine's 1000 Hz are for chunks only."""


def loop_of(engine: SayingEngine, **scheduler: float) -> DecodeLoop:
    return DecodeLoop(engine, RULES, SchedulerSettings(**scheduler), ManualClock(1))  # type: ignore[arg-type]


def run(loop: DecodeLoop) -> list[TranscriptEvent]:
    while loop.step():
        pass
    return loop.take_events()


def test_ready_sessions_share_one_step(engine: SayingEngine) -> None:
    loop = loop_of(engine)
    for name in "abc":
        loop.open(name, SessionOptions())
        loop.feed(name, chunk(100))
    assert loop.step()
    assert engine.batches == [3]


def test_a_step_takes_no_more_than_the_batch(engine: SayingEngine) -> None:
    loop = loop_of(engine, max_batch=2)
    for name in "abc":
        loop.open(name, SessionOptions())
        loop.feed(name, chunk(100))
    run(loop)
    assert engine.batches == [2, 1]


def test_each_session_gets_its_own_words_and_one_end(engine: SayingEngine) -> None:
    engine.scripts = [[(100, "left")], [(200, "right")]]
    loop = loop_of(engine)
    for name in "ab":
        loop.open(name, SessionOptions())
        loop.feed(name, chunk(300))
        loop.finish(name)
    events = run(loop)
    assert [(final.session_id, final.text) for final in of_kind(events, Final)] == [("a", "left"), ("b", "right")]
    assert sorted(end.session_id for end in of_kind(events, SessionEnded)) == ["a", "b"]
    assert len(loop) == 0
    assert all(stream.is_closed for stream in engine.streams)


def test_nothing_to_do_is_said(engine: SayingEngine) -> None:
    loop = loop_of(engine)
    loop.open("a", SessionOptions())
    assert not loop.step()


def test_an_engine_that_fails_ends_the_sessions_of_that_step_only(engine: SayingEngine) -> None:
    loop = loop_of(engine, max_batch=1)
    for name in "ab":
        loop.open(name, SessionOptions())
        loop.feed(name, chunk(300))
        loop.finish(name)
    broken = engine.streams[0]
    assert isinstance(broken, SayingStream)
    broken.is_broken = True
    events = run(loop)
    assert [(event.session_id, event.code) for event in of_kind(events, Failed)] == [("a", "engine_failed")]
    assert [event.session_id for event in of_kind(events, SessionEnded)] == ["b"]


def test_a_failure_from_outside_is_the_sessions_end(engine: SayingEngine) -> None:
    loop = loop_of(engine)
    loop.open("a", SessionOptions())
    loop.fail("a", LimitExceeded("idle_timeout_s", "31 s", "30 s"))
    (event,) = loop.take_events()
    assert isinstance(event, Failed)
    assert (event.code, "a" in loop) == ("limit_exceeded", False)


def test_a_cancelled_session_leaves_no_word_and_no_stream(engine: SayingEngine) -> None:
    engine.scripts = [[(100, "left")]]
    loop = loop_of(engine)
    loop.open("a", SessionOptions())
    loop.feed("a", chunk(300))
    loop.cancel("a")
    assert run(loop) == []
    assert (len(loop), engine.streams[0].is_closed) == (0, True)


def test_a_name_is_used_once(engine: SayingEngine) -> None:
    loop = loop_of(engine)
    loop.open("a", SessionOptions())
    with pytest.raises(ValueError, match="open already"):
        loop.open("a", SessionOptions())


def test_strangers_and_latecomers_are_ignored(engine: SayingEngine) -> None:
    loop = loop_of(engine)
    loop.open("a", SLOW)
    loop.feed_bytes("a", bytes(80))
    loop.finish("a")
    loop.feed_bytes("a", bytes(80))
    loop.finish("a")
    for act in (loop.flush, loop.finish, loop.cancel):
        act("nobody")
    loop.feed_bytes("nobody", b"xx")
    assert len(of_kind(run(loop), SessionEnded)) == 1
    assert (loop.demand_s("a"), loop.consumed_bytes("a")) == (0.0, 0)


def test_a_changing_rate_ends_its_own_session(engine: SayingEngine) -> None:
    loop = loop_of(engine)
    loop.open("a", SessionOptions())
    loop.feed("a", chunk(100))
    loop.feed("a", AudioChunk(samples(100), 2 * RATE_HZ, 100, 1))
    assert [event.code for event in of_kind(run(loop), Failed)] == ["protocol_violation"]


def test_demand_and_credit_follow_what_was_decoded(engine: SayingEngine) -> None:
    loop = loop_of(engine, backlog_s=2.0, accumulate_ms=0)
    loop.open("a", SLOW)
    second = (np.zeros(4000, "<i2")).tobytes()
    loop.feed_bytes("a", second)
    assert loop.demand_s("a") == pytest.approx(1.0, abs=0.25)  # the resampler holds some of it
    assert loop.consumed_bytes("a") < len(second) / 4
    run(loop)
    assert loop.demand_s("a") == 2.0
    assert loop.consumed_bytes("a") == len(second)


def test_figures_count_open_and_ended_sessions(engine: SayingEngine) -> None:
    engine.scripts = [[(100, "left")], []]
    loop = loop_of(engine)
    for name in "ab":
        loop.open(name, SessionOptions())
        loop.feed(name, chunk(500, np.nan))
    loop.finish("a")
    run(loop)
    figures = loop.figures()
    assert (figures.audio_s, figures.segments, figures.replaced_samples) == (1.0, 1, 1000)
    assert figures.batches <= figures.batched_streams
