from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from edge_asr.audio import AudioChunk
from edge_asr.clock import ManualClock
from edge_asr.commands.hotwords import HotwordList
from edge_asr.engines.base import Hotword, Hypothesis, StreamOptions
from edge_asr.engines.scripted import ScriptedEngine
from edge_asr.errors import LimitExceeded
from edge_asr.events import Failed, Final, Notice, Partial, SessionEnded, TranscriptEvent
from edge_asr.pipeline.writing import WritingBook
from edge_asr.requests import Resume, SessionOptions
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.understanding import Understanding
from edge_asr.settings import GateSettings, SchedulerSettings, TextSettings
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
    assert (loop.demand_s("a"), loop.credit("a").consumed_bytes) == (0.0, 0)


def test_a_changing_rate_ends_its_own_session(engine: SayingEngine) -> None:
    loop = loop_of(engine)
    loop.open("a", SessionOptions())
    loop.feed("a", chunk(100))
    loop.feed("a", AudioChunk(samples(100), 2 * RATE_HZ, 100, 1))
    assert [event.code for event in of_kind(run(loop), Failed)] == ["protocol_violation"]


def test_a_sender_is_told_from_where_on_more_audio_is_of_use() -> None:
    loop = DecodeLoop(ScriptedEngine(chunk_ms=320), RULES, SchedulerSettings(), ManualClock(1))
    loop.open("a", SessionOptions(sample_rate_hz=16_000))
    foretold = []
    for length_ms in (200, 200, 240, 100):
        loop.feed_bytes("a", bytes(32 * length_ms))
        run(loop)
        foretold.append(loop.credit("a").quiet_until_bytes / 32)
    assert foretold == [320, 640, 960, 960]
    loop.flush("a")
    assert loop.credit("a").quiet_until_bytes == 0
    run(loop)
    assert loop.credit("a").quiet_until_bytes / 32 == 740 + 320


def test_demand_and_credit_follow_what_was_decoded(engine: SayingEngine) -> None:
    loop = loop_of(engine, backlog_s=2.0, accumulate_ms=0)
    loop.open("a", SLOW)
    second = (np.zeros(4000, "<i2")).tobytes()
    loop.feed_bytes("a", second)
    assert loop.demand_s("a") == pytest.approx(1.0, abs=0.25)  # the resampler holds some of it
    assert loop.credit("a").consumed_bytes < len(second) / 4
    run(loop)
    assert loop.demand_s("a") == 2.0
    assert loop.credit("a").consumed_bytes == len(second)


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


def test_who_sends_everything_at_once_pushes_nobody_aside(engine: SayingEngine) -> None:
    engine.scripts = [[(at, str(at)) for at in (100, 200, 300)], [(100, "live")]]
    loop = loop_of(engine, max_batch=1)
    loop.open("flood", SessionOptions())
    loop.open("live", SessionOptions(is_live=True))
    loop.feed("flood", chunk(300))
    loop.feed("live", AudioChunk(samples(100), RATE_HZ, 0, 2))
    said = [partial.text for partial in of_kind(run(loop), Partial)]
    assert said == ["100", "live", "100 200", "100 200 300"]


def test_a_window_lets_others_join_the_step(engine: SayingEngine) -> None:
    clock = ManualClock(1)
    loop = DecodeLoop(engine, RULES, SchedulerSettings(window_ms=20), clock)
    for name in "abc":
        loop.open(name, SessionOptions())
    loop.feed("a", chunk(100))
    assert not loop.step()
    assert loop.wait_s == 0.02
    clock.advance_ms(5)
    loop.feed("b", chunk(100))
    assert not loop.step()
    assert loop.wait_s == 0.015
    clock.advance_ms(15)
    assert loop.step()
    assert engine.batches == [2]
    assert loop.wait_s is None


def test_a_window_does_not_wait_for_sessions_that_are_silent(engine: SayingEngine) -> None:
    engine.may_skip_silence = True
    loop = DecodeLoop(engine, RULES, SchedulerSettings(window_ms=20), ManualClock(1), gate=GateSettings())
    loop.open("silent", SessionOptions())
    loop.feed("silent", chunk(2000, 0.0))
    run(loop)
    engine.batches.clear()
    loop.open("speaking", SessionOptions())
    loop.feed("speaking", AudioChunk(np.tile(np.array([0.3, -0.3], np.float32), 50), RATE_HZ, 0, 1))
    assert loop.step()
    assert engine.batches == [1]


def test_a_partial_that_would_be_stale_is_left_to_the_next_step(engine: SayingEngine) -> None:
    engine.scripts = [[(100, "left")]]
    clock = ManualClock(1)
    loop = DecodeLoop(engine, RULES, SchedulerSettings(), clock)
    loop.open("a", SessionOptions(is_live=True))
    loop.feed("a", AudioChunk(samples(100), RATE_HZ, 0, 1))
    clock.advance_ms(250)  # due at 100, and a whole chunk later still not begun
    assert run(loop) == []
    assert loop.figures().stale_partials == 1
    loop.feed("a", AudioChunk(samples(100), RATE_HZ, 100, clock.now_ns()))
    assert [partial.text for partial in of_kind(run(loop), Partial)] == ["left"]


def test_while_decoding_is_late_a_partial_a_second_is_said_all_the_same(engine: SayingEngine) -> None:
    engine.scripts = [[(at, "la") for at in range(100, 3001, 100)]]
    clock = ManualClock(1)
    loop = DecodeLoop(engine, RULES, SchedulerSettings(), clock)
    loop.open("a", SessionOptions(is_live=True))
    clock.advance_ms(60_000)
    for number in range(30):
        loop.feed("a", AudioChunk(samples(100), RATE_HZ, 0, 1 + number * 100_000_000))
    assert [partial.end_s for partial in of_kind(run(loop), Partial)] == [1.0, 2.0, 3.0]


def test_finals_are_never_stale(engine: SayingEngine) -> None:
    engine.scripts = [[(100, "left")]]
    clock = ManualClock(1)
    loop = DecodeLoop(engine, RULES, SchedulerSettings(), clock)
    loop.open("a", SessionOptions(is_live=True))
    loop.feed("a", AudioChunk(samples(1000), RATE_HZ, 0, 1))
    clock.advance_ms(60_000)
    assert [final.text for final in of_kind(run(loop), Final)] == ["left"]


@pytest.mark.parametrize(("may_skip_silence", "enabled"), [(True, True), (True, False), (False, True)])
def test_only_engines_that_bear_it_are_kept_from_silence(
    engine: SayingEngine, may_skip_silence: bool, enabled: bool
) -> None:
    engine.may_skip_silence = may_skip_silence
    loop = DecodeLoop(engine, RULES, SchedulerSettings(), ManualClock(1), gate=GateSettings(enabled=enabled))
    loop.open("a", SessionOptions())
    loop.feed("a", chunk(5000, 0.0))
    run(loop)
    assert (loop.figures().skipped_s > 4.0) == (may_skip_silence and enabled)
    assert loop.figures().audio_s == 5.0


def test_steps_and_waits_are_counted(engine: SayingEngine) -> None:
    clock = ManualClock(1)
    loop = DecodeLoop(engine, RULES, SchedulerSettings(), clock)
    for name in "abc":
        loop.open(name, SessionOptions())
        loop.feed(name, chunk(100))
    clock.advance_ms(40)
    run(loop)
    assert (loop.batch_sizes.counts[2], loop.batch_sizes.total) == (1, 3)
    assert loop.waits.total == pytest.approx(3 * 0.04)
    assert (loop.take_queue_depth(), loop.take_queue_depth()) == (3, 0)


def test_a_session_to_which_nothing_happens_is_not_looked_at(engine: SayingEngine) -> None:
    looked_at: list[tuple[str, ...]] = []
    loop = DecodeLoop(
        engine, RULES, SchedulerSettings(), ManualClock(1), on_native=lambda names: looked_at.append(tuple(names))
    )
    for name in "ab":
        loop.open(name, SessionOptions())
        loop.feed(name, chunk(50))
    run(loop)
    assert loop.take_touched() == {"a", "b"}
    looked_at.clear()
    loop.feed("b", chunk(10))
    assert not loop.step()
    assert set(looked_at) == {("b",), ()}
    assert loop.take_touched() == {"b"}


def test_hotwords_reach_the_engine_and_the_session_is_told_which_do_not(engine: SayingEngine) -> None:
    expected = HotwordList((Hotword((1, 2), 1.5),), ("hotword 2: '?' cannot be spelled",))
    asked: list[StreamOptions] = []

    class RememberingEngine(SayingEngine):
        def open_stream(self, options: StreamOptions) -> SayingStream:
            asked.append(options)
            return super().open_stream(options)

    loop = DecodeLoop(
        RememberingEngine(), RULES, SchedulerSettings(), ManualClock(1), Understanding(expect=lambda *_words: expected)
    )
    loop.open("a", SessionOptions(hotwords=("hall", "?")))
    loop.feed("a", chunk(100))
    notices = of_kind(run(loop), Notice)
    assert asked[0].hotwords == expected.hotwords
    assert [(notice.code, notice.count) for notice in notices] == [("hotwords_ignored", 1)]
    assert notices[0].message == "hotwords: 1 loaded, 1 skipped: hotword 2: '?' cannot be spelled"


def test_a_session_that_goes_on_elsewhere_is_not_told_again(engine: SayingEngine) -> None:
    ignored = HotwordList((), ("hotword 1: '?' cannot be spelled",))
    loop = DecodeLoop(engine, RULES, SchedulerSettings(), ManualClock(1), Understanding(expect=lambda *_words: ignored))
    loop.open("a", SessionOptions(), Resume(position_s=1.0, segment=0))
    assert of_kind(run(loop), Notice) == []


def test_finals_are_written_as_asked_with_the_text_as_heard_beside(engine: SayingEngine) -> None:
    engine.scripts = [[(100, "twenty"), (200, "five")]]
    book = WritingBook(TextSettings(), ["en"])
    loop = DecodeLoop(engine, RULES, SchedulerSettings(), ManualClock(1), Understanding(write=book.of_session))
    loop.open("a", SessionOptions(itn=True))
    loop.feed("a", chunk(300))
    loop.finish("a")
    events = run(loop)
    (final,) = of_kind(events, Final)
    assert of_kind(events, Partial)[-1].text == "twenty five"
    assert (final.text, final.raw_text, [word.text for word in final.words]) == ("25", "twenty five", ["25"])


def test_the_text_as_heard_is_not_said_twice(engine: SayingEngine) -> None:
    engine.scripts = [[(100, "twenty")]]
    loop = loop_of(engine)
    loop.open("a", SessionOptions())
    loop.feed("a", chunk(300))
    loop.finish("a")
    (final,) = of_kind(run(loop), Final)
    assert (final.text, final.raw_text) == ("twenty", None)


def test_what_a_text_cannot_be_written_as_is_told(engine: SayingEngine) -> None:
    book = WritingBook(TextSettings(), ["de"])
    loop = DecodeLoop(engine, RULES, SchedulerSettings(), ManualClock(1), Understanding(write=book.of_session))
    loop.open("a", SessionOptions(itn=True))
    assert [notice.code for notice in of_kind(run(loop), Notice)] == ["itn_ignored"]


class RewritingStream(SayingStream):
    """As an engine with rules of its own."""

    def hypothesis(self) -> Hypothesis:
        said = super().hypothesis()
        tags = {"emotion": "HAPPY"}
        return replace(said, text=said.text.replace("twenty five", "25"), raw_text=said.text, tags=tags)


class RewritingEngine(SayingEngine):
    def open_stream(self, _options: StreamOptions) -> RewritingStream:
        return RewritingStream([(100, "say"), (200, "twenty"), (300, "five")])


def test_what_the_engine_has_rewritten_keeps_its_words_and_the_text_as_heard() -> None:
    loop = loop_of(RewritingEngine())
    loop.open("a", SessionOptions())
    loop.feed("a", chunk(400))
    loop.finish("a")
    (final,) = of_kind(run(loop), Final)
    assert (final.text, final.raw_text, final.tags) == ("say 25", "say twenty five", {"emotion": "HAPPY"})
    assert [(word.text, word.start_s) for word in final.words] == [("say", 0.1), ("25", 0.2)]


def test_another_worker_hears_the_audio_as_this_one_did(engine: SayingEngine) -> None:
    """The robust front knows the offset there that it had found here."""
    engine.scripts = [[(150, "hello")], []]
    loop, other = loop_of(engine), loop_of(engine)
    loop.open("a", SLOW)
    rising = np.linspace(0.1, 0.3, 8000) + 0.05 * np.sin(np.arange(8000))
    data = (32768 * rising).astype("<i2").tobytes()
    loop.feed_bytes("a", data)
    assert [final.reason for final in of_kind(run(loop), Final)] == ["silence"]
    progress = loop.take_progress()["a"]
    resume = Resume(position_s=progress.position_s, segment=1, front=progress.front)
    other.open("a", SLOW, resume)
    begin = round(progress.position_s * 4000)
    other.feed_bytes("a", data[2 * begin :])
    run(other)
    heard, again = (np.array(stream.accepted) for stream in engine.streams)
    settle = 40  # the resampler has no audio before its first samples
    np.testing.assert_allclose(again[settle:], heard[begin // 4 + settle :][: len(again) - settle], atol=2e-3)
    assert len(again) > 500


def test_what_the_steps_take_of_the_threads_own_time_is_counted(engine: SayingEngine) -> None:
    clock = ManualClock(1)
    decode = engine.decode

    def work(streams: Sequence[SayingStream]) -> None:
        clock.advance_ms(5)
        decode(streams)

    engine.decode = work  # type: ignore[method-assign, assignment]
    loop = DecodeLoop(engine, RULES, SchedulerSettings(), ManualClock(1), thread_clock=clock)
    loop.open("a", SessionOptions())
    loop.feed("a", chunk(100))
    clock.advance_ms(100)  # around the steps
    steps = 0
    while loop.step():
        steps += 1
    assert steps > 0
    assert loop.stepping_ns == steps * 5_000_000
