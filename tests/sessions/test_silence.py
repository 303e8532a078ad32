"""Sessions whose engine does not get long silence: nothing that a client sees may tell."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from edge_asr.audio import AudioChunk, Float32Array
from edge_asr.clock import ManualClock
from edge_asr.engines.base import StreamOptions
from edge_asr.events import Final, Partial, SessionEnded
from edge_asr.pipeline.energy import QUIETEST_BACKGROUND_DBFS
from edge_asr.pipeline.gate import EngineSteps, SilenceGate
from edge_asr.requests import Resume, SessionOptions
from edge_asr.sessions.session import Session
from edge_asr.sessions.session_settings import SessionSettings
from edge_asr.settings import EndpointSettings, GateSettings
from tests.sessions.conftest import RATE_HZ, RULES, SayingEngine, decode_all, of_kind

GATE = GateSettings(pre_roll_ms=100, hang_over_ms=50)
STEPS = EngineSteps(0, 0, 150)
"""The gate closes 200 ms after the last sound."""

Opener = Callable[..., Session]


@pytest.fixture
def open_gated(engine: SayingEngine) -> Opener:
    def open_gated(
        *scripts: list[tuple[int, str]],
        options: SessionOptions | None = None,
        endpoint: EndpointSettings = RULES,
        resume: Resume | None = None,
    ) -> Session:
        engine.scripts = list(scripts)
        settings = SessionSettings(
            RATE_HZ, endpoint, 30.0, is_append_only=True, open_gate=lambda: SilenceGate(GATE, RATE_HZ, STEPS)
        )
        wishes = options or SessionOptions()
        return Session("s", wishes, settings, lambda: engine.open_stream(StreamOptions()), ManualClock(5), resume)

    return open_gated


def sound(count: int) -> Float32Array:
    return np.where(np.arange(count) % 2, np.float32(0.3), np.float32(-0.3)).astype(np.float32)


def hear(session: Session, *parts: int, size: int = 100) -> list[object]:
    """Let the session hear sound and silence in turn, so many milliseconds of each; what it said."""
    audio = [sound(count) if number % 2 == 0 else np.zeros(count, np.float32) for number, count in enumerate(parts)]
    samples = np.concatenate(audio)
    said: list[object] = []
    for start in range(0, len(samples), size):
        session.feed(AudioChunk(samples[start : start + size], RATE_HZ, start, 1))
        said += decode_all(session)
    return said


def test_the_engine_does_not_get_long_silence(open_gated: Opener, engine: SayingEngine) -> None:
    session = open_gated([])
    hear(session, 400, 10_000)
    assert len(engine.streams[0].accepted) == 600
    assert (session.is_parked, session.skipped_s) == (True, 9.7)
    assert session.backlog_s == 0.0


def test_words_after_silence_have_their_own_times(open_gated: Opener) -> None:
    # The engine hears 0 to 600 and, from its 600 on, what begins at 4900.
    session = open_gated([(300, "turn"), (900, "off")])
    finals = of_kind(hear(session, 400, 4600, 700, 2000), Final)  # type: ignore[arg-type]
    assert [(final.text, final.start_s, final.segment) for final in finals] == [("turn", 0.3, 0), ("off", 5.2, 1)]


@pytest.mark.parametrize("size", [10, 33, 100, 1000])
def test_silence_that_is_not_decoded_closes_the_segment_all_the_same(open_gated: Opener, size: int) -> None:
    session = open_gated([(300, "turn")])
    said = hear(session, 400, 2000, size=size)
    (final,) = of_kind(said, Final)  # type: ignore[arg-type]
    assert (final.text, final.reason, final.words[0].start_s) == ("turn", "silence", 0.3)


def test_the_segment_is_closed_when_the_rule_says_so(open_gated: Opener) -> None:
    session = open_gated([(300, "turn")], endpoint=EndpointSettings(silence_ms=1500))
    assert of_kind(hear(session, 400, 1300), Final) == []  # type: ignore[arg-type]
    assert len(of_kind(hear(session, 0, 100), Final)) == 1  # type: ignore[arg-type]


def test_a_pause_within_a_sentence_does_not_end_it(open_gated: Opener, engine: SayingEngine) -> None:
    session = open_gated([(300, "turn"), (800, "on")], endpoint=EndpointSettings(silence_ms=3000))
    said = hear(session, 400, 1600, 400, 4000)
    (final,) = of_kind(said, Final)  # type: ignore[arg-type]
    assert (final.text, [word.start_s for word in final.words]) == ("turn on", [0.3, 2.1])
    assert len(engine.streams) == 1


def test_an_end_in_silence_needs_no_more_decoding(open_gated: Opener, engine: SayingEngine) -> None:
    session = open_gated([(300, "turn")], endpoint=EndpointSettings(silence_ms=5000))
    hear(session, 400, 1000)
    session.finish()
    assert not session.prepare()
    final, ended = session.take_events()
    assert isinstance(final, Final)
    assert (final.text, final.reason) == ("turn", "end_of_audio")
    assert ended == SessionEnded("s", 1.4, 0)


def test_a_flush_in_silence_begins_a_stream_whose_times_go_on(open_gated: Opener) -> None:
    session = open_gated([(300, "turn")], [(200, "off")], endpoint=EndpointSettings(silence_ms=5000))
    hear(session, 400, 1000)
    session.flush()
    assert [final.reason for final in of_kind(decode_all(session), Final)] == ["flush"]
    session.feed(AudioChunk(sound(500), RATE_HZ, 1400, 1))
    session.finish()
    (final,) = of_kind(decode_all(session), Final)
    assert (final.text, final.start_s) == ("off", 1.6)


def test_what_is_settled_in_silence_stops_where_a_word_may_begin(open_gated: Opener) -> None:
    session = open_gated([])
    hear(session, 400, 3600)
    assert (session.settled_s, session.segments) == (3.9, 0)
    settled = round(session.settled_s * RATE_HZ)
    again = open_gated([(250, "off")], resume=Resume(position_s=session.settled_s, segment=0))
    again.feed(AudioChunk(np.concatenate([np.zeros(4000 - settled, np.float32), sound(400)]), RATE_HZ, 0, 1))
    again.finish()
    (final,) = of_kind(decode_all(again), Final)
    assert final.start_s == pytest.approx((settled + 250) / RATE_HZ)


def test_silence_is_settled_once_a_segment_and_not_with_every_piece(open_gated: Opener) -> None:
    session = open_gated([])
    positions = set()
    for _ in range(100):
        hear(session, 0, 100)
        positions.add(session.settled_s)
    assert len(positions) == 1 + 10  # a segment without text lasts a second


def test_a_lost_stretch_within_silence_takes_its_time(open_gated: Opener) -> None:
    session = open_gated([(750, "off")])
    hear(session, 400, 1000)
    session.feed(AudioChunk(sound(600), RATE_HZ, 0, 1, gap_samples=2000))
    session.finish()
    (final,) = of_kind(decode_all(session), Final)
    assert final.start_s == 3.4 + 0.15


def test_recordings_are_decoded_whole(open_gated: Opener, engine: SayingEngine) -> None:
    session = open_gated([], options=SessionOptions(is_batch=True))
    hear(session, 400, 5000)
    assert len(engine.streams[0].accepted) == 5400


def test_a_partial_says_how_far_the_client_s_audio_is_heard(open_gated: Opener) -> None:
    session = open_gated([(300, "turn"), (900, "off")])
    partials = of_kind(hear(session, 400, 4600, 700), Partial)  # type: ignore[arg-type]
    assert [(partial.text, partial.end_s) for partial in partials] == [("turn", 0.3), ("off", 5.2)]


def test_a_session_rests_in_silence_once_its_final_is_said(open_gated: Opener) -> None:
    session = open_gated([(150, "hello")])
    resting = []
    for part in (100, 100, 300, 400):
        hear(session, *((part,) if part == 100 else (0, part)))
        resting.append(session.is_resting)
    assert resting == [False, False, False, True]
    hear(session, 100)
    assert not session.is_resting


def test_a_session_does_not_rest_while_somebody_waits_for_its_answer(open_gated: Opener) -> None:
    session = open_gated([])
    hear(session, 0, 1000)
    assert session.is_resting
    session.flush()
    assert not session.is_resting


def test_a_session_that_rests_tells_how_loud_silence_may_be(open_gated: Opener) -> None:
    session = open_gated([])
    hear(session, 300)
    assert session.quiet_dbfs is None
    hear(session, 0, 1000)
    assert session.quiet_dbfs == QUIETEST_BACKGROUND_DBFS + GATE.margin_db
