"""Finals of a second model: when they come, when not, and what is said in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from edge_asr.audio import AudioChunk, Float32Array
from edge_asr.clock import ManualClock
from edge_asr.engines.base import Hypothesis, StreamOptions, Token
from edge_asr.events import Final, Notice, Partial, SessionEnded
from edge_asr.requests import Resume, SessionOptions
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.second_hearing import SecondHearing
from edge_asr.sessions.session import Session
from edge_asr.sessions.session_settings import SessionSettings
from edge_asr.sessions.understanding import Understanding
from edge_asr.settings import SchedulerSettings, SecondPassSettings
from tests.sessions.conftest import RATE_HZ, RULES, SayingEngine, chunk, decode_all, of_kind
from tests.sessions.scripted_pass import ScriptedPass

DEADLINE_MS = 500


@dataclass
class ScriptedSecond:
    """Answers when the test lets it."""

    max_segment_s: float = 10.0
    slowness_s: float = 0.0
    passes: list[ScriptedPass[Hypothesis]] = field(default_factory=list)

    def expected_s(self, _samples: int) -> float:
        return self.slowness_s

    def begin(self, samples: Float32Array) -> ScriptedPass[Hypothesis]:
        self.passes.append(ScriptedPass(samples))
        return self.passes[-1]

    def answer(self, text: str | None, at_s: float = 0.1) -> None:
        tokens = (Token(f" {text}", at_s),)
        newest = self.passes[-1]
        newest.answer(None if text is None else Hypothesis(text, tokens, len(newest.samples)))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(5)


@pytest.fixture
def second() -> ScriptedSecond:
    return ScriptedSecond()


Opener = Callable[..., Session]


@pytest.fixture
def open_session(engine: SayingEngine, second: ScriptedSecond, clock: ManualClock) -> Opener:
    def open_session(
        *scripts: Sequence[tuple[int, str]], options: SessionOptions | None = None, resume: Resume | None = None
    ) -> Session:
        engine.scripts = list(scripts)
        hearing = SecondHearing(second, SecondPassSettings("better", DEADLINE_MS), "as_is", clock)
        settings = SessionSettings(
            RATE_HZ, RULES, 30.0, Understanding("lower", second_hearing=hearing), is_append_only=True
        )
        return Session(
            "s", options or SessionOptions(), settings, lambda: engine.open_stream(StreamOptions()), clock, resume
        )

    return open_session


def test_a_final_is_the_second_models_in_its_own_writing(open_session: Opener, second: ScriptedSecond) -> None:
    session = open_session([(150, "GUES"), (250, "WORK")])
    session.feed(chunk(1000))
    assert [partial.text for partial in of_kind(decode_all(session), Partial)] == ["gues", "gues work"]
    second.answer("Guesswork.")
    (final,) = of_kind(decode_all(session), Final)
    assert (final.text, final.reason, final.start_s) == ("Guesswork.", "silence", 0.1)
    assert [word.text for word in final.words] == ["Guesswork."]


def test_it_hears_the_segment_and_nothing_of_the_one_before(open_session: Opener, second: ScriptedSecond) -> None:
    session = open_session([(150, "one"), (1250, "two")])
    session.feed(chunk(800, 0.1))
    session.feed(chunk(1200, 0.2))
    decode_all(session)
    second.answer("One.")
    decode_all(session)
    second.answer("Two.", at_s=0.55)
    (final,) = of_kind(decode_all(session), Final)
    assert (final.text, final.start_s) == ("Two.", 1.25)
    assert [len(each.samples) for each in second.passes] == [700, 1100]
    assert second.passes[1].samples.tolist() == [*chunk(100, 0.1).samples, *chunk(1000, 0.2).samples]


def test_a_word_that_began_before_a_silent_segment_was_closed_is_heard_whole(
    open_session: Opener, second: ScriptedSecond
) -> None:
    session = open_session([(1150, "late")])
    session.feed(chunk(2000))
    decode_all(session)
    assert len(second.passes[0].samples) == 1700  # the silent one ended at 1000, and all of it is kept


def test_nothing_is_said_of_the_next_segment_before_the_final(open_session: Opener, second: ScriptedSecond) -> None:
    session = open_session([(150, "one"), (850, "two")])
    session.feed(chunk(1000))
    decode_all(session)
    session.feed(chunk(1000))
    assert not decode_all(session)
    assert (session.settled_s, session.segments, session.is_awaiting_final) == (0.0, 0, True)
    second.answer("One.")
    events = decode_all(session)
    assert [type(event) for event in events] == [Final, Partial]
    assert (session.settled_s, session.segments) == (0.7, 1)


def test_after_the_deadline_the_final_is_the_first_models_and_says_so(
    open_session: Opener, second: ScriptedSecond, clock: ManualClock
) -> None:
    session = open_session([(150, "one")])
    session.feed(chunk(1000))
    decode_all(session)
    assert session.awaits_until_ns == clock.now_ns() + DEADLINE_MS * 1_000_000
    clock.advance_ms(DEADLINE_MS)
    notice, final = decode_all(session)
    assert isinstance(notice, Notice)
    assert isinstance(final, Final)
    assert (notice.code, final.text) == ("second_pass_skipped", "one")
    assert "500 ms" in notice.message
    assert second.passes[0].is_given_up
    assert session.second_passes == {"late": 1}


def test_what_is_known_to_come_too_late_is_not_waited_for(open_session: Opener, second: ScriptedSecond) -> None:
    second.slowness_s = 0.6
    session = open_session([(150, "one")])
    session.feed(chunk(1000))
    (final,) = of_kind(decode_all(session), Final)
    assert (final.text, second.passes) == ("one", [])
    assert session.second_passes == {"foreseen_late": 1}


def test_a_recording_has_no_deadline(open_session: Opener, second: ScriptedSecond, clock: ManualClock) -> None:
    second.slowness_s = 60.0
    session = open_session([(150, "one")], options=SessionOptions(is_batch=True))
    session.feed(chunk(1000))
    decode_all(session)
    clock.advance_ms(3_600_000)
    assert not of_kind(decode_all(session), Final)
    assert session.awaits_until_ns is None
    second.answer("One.")
    assert [final.text for final in of_kind(decode_all(session), Final)] == ["One."]


def test_a_segment_longer_than_the_model_takes_is_the_first_models(
    open_session: Opener, second: ScriptedSecond
) -> None:
    second.max_segment_s = 0.5
    session = open_session([(150, "one")])
    session.feed(chunk(1000))
    notice, final = [event for event in decode_all(session) if not isinstance(event, Partial)]
    assert isinstance(notice, Notice)
    assert isinstance(final, Final)
    assert (final.text, "longer than" in notice.message) == ("one", True)
    assert session.second_passes == {"too_long": 1}


def test_a_second_model_that_fails_costs_no_final(open_session: Opener, second: ScriptedSecond) -> None:
    session = open_session([(150, "one")])
    session.feed(chunk(1000))
    decode_all(session)
    second.answer(None)
    assert [final.text for final in of_kind(decode_all(session), Final)] == ["one"]
    assert session.second_passes == {"failed": 1}


def test_a_second_model_that_hears_nothing_takes_the_partials_back(
    open_session: Opener, second: ScriptedSecond
) -> None:
    session = open_session([(150, "one")])
    session.feed(chunk(1000))
    decode_all(session)
    second.answer("")
    assert [final.text for final in of_kind(decode_all(session), Final)] == [""]


def test_the_end_and_a_flush_wait_for_their_finals(open_session: Opener, second: ScriptedSecond) -> None:
    session = open_session([(150, "one")], [(150, "two")])
    session.feed(chunk(250))
    session.flush()
    decode_all(session)
    second.answer("One.")
    session.feed(chunk(250))
    session.finish()
    assert [final.text for final in of_kind(decode_all(session), Final)] == ["One."]
    assert session.flushes_done == 1
    second.answer("Two.")
    final, ended = decode_all(session)
    assert isinstance(final, Final)
    assert (final.text, final.start_s, final.reason) == ("Two.", 0.35, "end_of_audio")
    assert ended == SessionEnded("s", 0.5, 0)
    assert session.second_passes == {"done": 2}


def test_the_end_is_said_once_when_its_final_comes_too_late(
    open_session: Opener, second: ScriptedSecond, clock: ManualClock
) -> None:
    session = open_session([(150, "one")])
    session.feed(chunk(250))
    session.finish()
    while session.prepare():
        session.stream.step()  # type: ignore[attr-defined]
        session.after_decode()
    session.take_events()
    clock.advance_ms(DEADLINE_MS)
    assert not session.prepare()
    assert [type(event) for event in session.take_events()] == [Notice, Final, SessionEnded]
    assert session.segments == 1


def test_a_session_that_is_given_up_gives_its_pass_up(open_session: Opener, second: ScriptedSecond) -> None:
    session = open_session([(150, "one")])
    session.feed(chunk(1000))
    decode_all(session)
    session.cancel()
    assert second.passes[0].is_given_up
    assert not session.is_awaiting_final


def test_audio_that_may_have_ended_a_worker_is_not_heard_twice(open_session: Opener, second: ScriptedSecond) -> None:
    session = open_session([(150, "one")], resume=Resume(position_s=0.0, segment=0, is_suspect=True))
    session.feed(chunk(1000))
    assert [final.text for final in of_kind(decode_all(session), Final)] == ["one"]
    assert not second.passes


def test_a_loop_asks_again_at_the_deadline_and_knows_whose_audio_is_heard(
    engine: SayingEngine, second: ScriptedSecond, clock: ManualClock
) -> None:
    engine.scripts = [[(150, "one")]]
    seen: list[tuple[str, ...]] = []
    hearing = SecondHearing(second, SecondPassSettings("better", DEADLINE_MS), "as_is", clock)
    loop = DecodeLoop(
        engine,
        RULES,
        SchedulerSettings(),
        clock,
        Understanding(second_hearing=hearing),
        on_native=lambda ids: seen.append(tuple(ids)),
    )
    loop.open("s", SessionOptions(sample_rate_hz=4000))
    loop.feed("s", AudioChunk(np.full(1000, 0.1, np.float32), RATE_HZ, 0, 1))
    while loop.step():
        pass
    assert seen[-1] == ("s",), "the second model's native code may end the process too"
    assert loop.wait_s == DEADLINE_MS / 1000
    clock.advance_ms(DEADLINE_MS)
    while loop.step():
        pass
    assert [event.text for event in loop.take_events() if isinstance(event, Final)] == ["one"]
    assert not seen[-1]
    assert loop.wait_s is None
