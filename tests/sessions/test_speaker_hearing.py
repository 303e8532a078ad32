"""Speakers of finals: what is heard for them, how long they are waited for, and that no final is lost over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.clock import ManualClock
from edge_asr.commands.listening import OPEN_SPEECH, Heard, Listening
from edge_asr.engines.base import Hypothesis, StreamOptions
from edge_asr.events import Command, Final, Partial, SessionEnded, Speaker
from edge_asr.pipeline.voices import Voices
from edge_asr.requests import Resume, SessionOptions
from edge_asr.sessions.second_hearing import SecondHearing
from edge_asr.sessions.session import Session
from edge_asr.sessions.session_settings import SessionSettings
from edge_asr.sessions.speaker_hearing import SpeakerHearing
from edge_asr.sessions.understanding import Understanding
from edge_asr.settings import SecondPassSettings, SpeakerSettings
from tests.sessions.conftest import RATE_HZ, RULES, SayingEngine, chunk, decode_all, of_kind
from tests.sessions.scripted_pass import ScriptedPass
from tests.sessions.test_second_hearing import ScriptedSecond

DEADLINE_MS = 300
ANNA, BOB = np.array([1, 0], np.float32), np.array([0, 1], np.float32)


@dataclass
class ScriptedEmbedder:
    """Answers when the test lets it."""

    passes: list[ScriptedPass[Float32Array]] = field(default_factory=list)

    def begin(self, samples: Float32Array, sample_rate_hz: int) -> ScriptedPass[Float32Array]:
        assert sample_rate_hz == RATE_HZ
        self.passes.append(ScriptedPass(samples))
        return self.passes[-1]

    def answer(self, embedding: Float32Array | None) -> None:
        self.passes[-1].answer(embedding)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(5)


@pytest.fixture
def embedder() -> ScriptedEmbedder:
    return ScriptedEmbedder()


Opener = Callable[..., Session]


@pytest.fixture
def open_session(engine: SayingEngine, embedder: ScriptedEmbedder, clock: ManualClock) -> Opener:
    def open_session(
        *scripts: Sequence[tuple[int, str]],
        options: SessionOptions | None = None,
        resume: Resume | None = None,
        second: ScriptedSecond | None = None,
        listening: Listening = OPEN_SPEECH,
    ) -> Session:
        engine.scripts = list(scripts)
        voices = Voices({"Anna": ANNA.tolist(), "Bob": BOB.tolist()}, 0.6)
        hearing = SpeakerHearing(embedder, voices, SpeakerSettings("voices", 0.6, DEADLINE_MS), clock)
        again = SecondHearing(second, SecondPassSettings("better", 1000), "as_is", clock) if second else None
        understanding = Understanding(second_hearing=again, speaker_hearing=hearing)
        settings = SessionSettings(RATE_HZ, RULES, 30.0, understanding, is_append_only=True)
        return Session(
            "s",
            options or SessionOptions(),
            settings,
            lambda: engine.open_stream(StreamOptions()),
            clock,
            resume,
            listening,
        )

    return open_session


def test_a_final_names_whose_voice_it_is(open_session: Opener, embedder: ScriptedEmbedder) -> None:
    session = open_session([(150, "one")])
    session.feed(chunk(1000))
    assert [type(event) for event in decode_all(session)] == [Partial]
    embedder.answer(BOB)
    (final,) = of_kind(decode_all(session), Final)
    assert (final.text, final.speaker) == ("one", Speaker("Bob", 1.0))


def test_each_segment_is_compared_by_itself(open_session: Opener, embedder: ScriptedEmbedder) -> None:
    session = open_session([(150, "one"), (1250, "two")])
    session.feed(chunk(800, 0.1))
    session.feed(chunk(1200, 0.2))
    decode_all(session)
    embedder.answer(ANNA)
    decode_all(session)
    embedder.answer(BOB)
    (final,) = of_kind(decode_all(session), Final)
    assert final.speaker == Speaker("Bob", 1.0)
    assert [len(each.samples) for each in embedder.passes] == [700, 1100]


def test_a_voice_that_nobody_enrolled_has_no_name(open_session: Opener, embedder: ScriptedEmbedder) -> None:
    session = open_session([(150, "one")])
    session.feed(chunk(1000))
    decode_all(session)
    embedder.answer(-ANNA)
    assert [final.speaker for final in of_kind(decode_all(session), Final)] == [Speaker(None, 0.0)]


@pytest.mark.parametrize("options", [SessionOptions(), SessionOptions(is_batch=True)], ids=["live", "batch"])
def test_of_too_little_speech_nothing_is_said(
    open_session: Opener, embedder: ScriptedEmbedder, options: SessionOptions
) -> None:
    session = open_session([(150, "one")], options=options)
    session.feed(chunk(1000))
    decode_all(session)
    embedder.answer(None)
    assert [final.speaker for final in of_kind(decode_all(session), Final)] == [None]


def test_after_the_deadline_the_final_comes_without(
    open_session: Opener, embedder: ScriptedEmbedder, clock: ManualClock
) -> None:
    session = open_session([(150, "one")])
    session.feed(chunk(1000))
    decode_all(session)
    assert session.awaits_until_ns == clock.now_ns() + DEADLINE_MS * 1_000_000
    clock.advance_ms(DEADLINE_MS)
    (final,) = of_kind(decode_all(session), Final)
    assert (final.text, final.speaker) == ("one", None)
    assert embedder.passes[0].is_given_up


def test_a_recording_has_no_deadline(open_session: Opener, embedder: ScriptedEmbedder, clock: ManualClock) -> None:
    session = open_session([(150, "one")], options=SessionOptions(is_batch=True))
    session.feed(chunk(1000))
    decode_all(session)
    clock.advance_ms(3_600_000)
    assert not of_kind(decode_all(session), Final)
    assert session.awaits_until_ns is None
    embedder.answer(ANNA)
    assert [final.speaker for final in of_kind(decode_all(session), Final)] == [Speaker("Anna", 1.0)]


def test_silence_is_nobodys(open_session: Opener, embedder: ScriptedEmbedder) -> None:
    session = open_session([])
    session.feed(chunk(2000))
    assert decode_all(session) == []
    assert not embedder.passes


def test_audio_that_may_have_ended_a_worker_is_not_looked_at(open_session: Opener, embedder: ScriptedEmbedder) -> None:
    session = open_session([(150, "one")], resume=Resume(position_s=0.0, segment=0, is_suspect=True))
    session.feed(chunk(1000))
    assert [final.speaker for final in of_kind(decode_all(session), Final)] == [None]
    assert not embedder.passes


def test_the_end_waits_for_its_speaker(open_session: Opener, embedder: ScriptedEmbedder) -> None:
    session = open_session([(150, "one")])
    session.feed(chunk(250))
    session.finish()
    assert not of_kind(decode_all(session), SessionEnded)
    embedder.answer(ANNA)
    final, ended = decode_all(session)
    assert isinstance(final, Final)
    assert (final.speaker, ended) == (Speaker("Anna", 1.0), SessionEnded("s", 0.25, 0))


def test_the_second_models_text_and_the_speaker_are_both_waited_for(
    open_session: Opener, embedder: ScriptedEmbedder, clock: ManualClock
) -> None:
    second = ScriptedSecond()
    session = open_session([(150, "one")], second=second)
    session.feed(chunk(1000))
    decode_all(session)
    embedder.answer(BOB)
    assert not of_kind(decode_all(session), Final)
    second.answer("One.")
    (final,) = of_kind(decode_all(session), Final)
    assert (final.text, final.speaker) == ("One.", Speaker("Bob", 1.0))


def test_a_text_that_has_come_is_kept_while_the_speaker_is_waited_for(
    open_session: Opener, embedder: ScriptedEmbedder, clock: ManualClock
) -> None:
    second = ScriptedSecond()
    session = open_session([(150, "one")], second=second)
    session.feed(chunk(1000))
    decode_all(session)
    second.answer("One.")
    assert not of_kind(decode_all(session), Final)
    clock.advance_ms(DEADLINE_MS)
    (final,) = of_kind(decode_all(session), Final)
    assert (final.text, final.speaker) == ("One.", None)


def test_a_session_that_is_given_up_gives_both_up(open_session: Opener, embedder: ScriptedEmbedder) -> None:
    second = ScriptedSecond()
    session = open_session([(150, "one")], second=second)
    session.feed(chunk(1000))
    decode_all(session)
    session.cancel()
    assert embedder.passes[0].is_given_up
    assert second.passes[0].is_given_up


class AlwaysACommand:
    constraint = None
    phrases = ()

    def understand(self, hypothesis: Hypothesis) -> Heard:
        command = Command("TurnOn", {}, 1.0) if hypothesis.text else None
        return Heard(hypothesis, command, hypothesis.text)

    def conclude(self, heard: Heard) -> Heard:
        return heard


def test_a_command_says_who_gave_it_and_asks_no_second_model(open_session: Opener, embedder: ScriptedEmbedder) -> None:
    second = ScriptedSecond()
    session = open_session([(150, "one")], second=second, listening=AlwaysACommand())
    session.feed(chunk(1000))
    decode_all(session)
    embedder.answer(ANNA)
    (final,) = of_kind(decode_all(session), Final)
    assert (final.command, final.speaker) == (Command("TurnOn", {}, 1.0), Speaker("Anna", 1.0))
    assert not second.passes
