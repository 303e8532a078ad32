from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from edge_asr.audio import AudioChunk
from edge_asr.errors import EngineFailed
from edge_asr.events import Failed, Final, Notice, Partial, SessionEnded
from edge_asr.pipeline.front import Finding
from edge_asr.requests import SessionOptions
from edge_asr.sessions.session import Session
from tests.sessions.conftest import RATE_HZ, SayingEngine, chunk, decode_all, of_kind

Opener = Callable[..., Session]


def test_partials_grow_and_say_what_is_settled(open_session: Opener) -> None:
    session = open_session([(150, "turn"), (350, "on")])
    session.feed(chunk(500))
    partials = of_kind(decode_all(session), Partial)
    assert [(p.segment, p.revision, p.text, p.stable_chars) for p in partials] == [
        (0, 0, "turn", 0),
        (0, 1, "turn on", 4),
    ]
    assert (partials[1].start_s, partials[1].end_s) == (0.15, 0.4)


def test_nothing_new_is_no_partial(open_session: Opener) -> None:
    session = open_session([(150, "turn")])
    session.feed(chunk(500))
    assert len(of_kind(decode_all(session), Partial)) == 1


def test_partials_can_be_declined(open_session: Opener) -> None:
    session = open_session([(150, "turn")], options=SessionOptions(partials=False))
    session.feed(chunk(1000))
    assert [type(event) for event in decode_all(session)] == [Final]


def test_silence_closes_the_segment_with_words_and_absolute_times(open_session: Opener) -> None:
    session = open_session([(150, "turn"), (350, "on")])
    session.feed(chunk(1000))
    (final,) = of_kind(decode_all(session), Final)
    assert (final.segment, final.text, final.reason) == (0, "turn on", "silence")
    assert [(word.text, word.start_s, word.end_s) for word in final.words] == [("turn", 0.15, 0.35), ("on", 0.35, 0.6)]
    assert (final.start_s, final.end_s) == (0.15, 0.6)


def test_the_client_may_choose_the_silence(open_session: Opener) -> None:
    session = open_session([(150, "turn")], options=SessionOptions(endpoint_silence_ms=2000))
    session.feed(chunk(2000))
    assert of_kind(decode_all(session), Final) == []


def test_times_of_the_second_segment_go_on(open_session: Opener) -> None:
    session = open_session([(150, "turn"), (1250, "off")])
    session.feed(chunk(2000))
    finals = of_kind(decode_all(session), Final)
    assert [(final.segment, final.text, final.start_s) for final in finals] == [(0, "turn", 0.15), (1, "off", 1.25)]


def test_silence_alone_leaves_no_final(open_session: Opener) -> None:
    session = open_session()
    session.feed(chunk(10_000, 0.0))
    assert decode_all(session) == []
    assert session.segments == 0


def test_a_segment_that_never_pauses_is_cut_at_its_longest(open_session: Opener) -> None:
    session = open_session([(at, "la") for at in range(100, 9000, 200)])
    session.feed(chunk(8000))
    finals = of_kind(decode_all(session), Final)
    assert [final.reason for final in finals] == ["max_length"]


def test_the_last_word_is_not_lost_and_the_session_ends_once(open_session: Opener) -> None:
    session = open_session([(150, "turn"), (450, "off")])
    session.feed(chunk(449))  # the engine's last chunk is not full: only its padding brings the word out
    assert of_kind(decode_all(session), Final) == []
    session.finish()
    events = decode_all(session)
    assert [final.text for final in of_kind(events, Final)] == ["turn off"]
    assert of_kind(events, Final)[0].reason == "end_of_audio"
    assert events[-1] == SessionEnded("s", 0.449, 0)
    session.finish()
    assert decode_all(session) == []


def test_no_speech_ends_without_a_final(open_session: Opener) -> None:
    session = open_session()
    session.finish()
    assert decode_all(session) == [SessionEnded("s", 0.0, 0)]


def test_audio_after_the_end_is_ignored(open_session: Opener) -> None:
    session = open_session([(100, "turn")])
    session.feed(chunk(100))
    session.finish()
    session.feed(chunk(500))
    assert decode_all(session)[-1] == SessionEnded("s", 0.1, 0)


def test_flush_closes_the_segment_and_a_fresh_stream_goes_on_in_time(
    open_session: Opener, engine: SayingEngine
) -> None:
    session = open_session([(150, "turn")], [(200, "off")])
    session.feed(chunk(250))
    session.flush()
    (final,) = of_kind(decode_all(session), Final)
    assert (final.text, final.reason) == ("turn", "flush")
    session.feed(chunk(300))
    session.finish()
    events = decode_all(session)
    (final,) = of_kind(events, Final)
    assert (final.segment, final.text, final.start_s, final.reason) == (1, "off", 0.45, "end_of_audio")
    assert engine.streams[0].is_closed


def test_capitals_are_lowered_when_the_model_only_knows_them(open_session: Opener) -> None:
    session = open_session([(150, "TURN")], text_case="lower")
    session.feed(chunk(1000))
    (final,) = of_kind(decode_all(session), Final)
    assert (final.text, final.words[0].text) == ("turn", "turn")


def test_what_was_found_in_the_audio_is_announced(open_session: Opener) -> None:
    session = open_session()
    session.feed(
        chunk(100), [Finding("samples_replaced", "two were no numbers", 2), Finding("audio_clipped", "loud", 9)]
    )
    notices = of_kind(decode_all(session), Notice)
    assert [(notice.code, notice.count) for notice in notices] == [("samples_replaced", 2), ("audio_clipped", 9)]
    assert session.replaced_samples == 2


def test_repeated_trouble_is_announced_once_in_a_while(open_session: Opener) -> None:
    session = open_session()
    for _ in range(20):
        session.feed(chunk(1000), [Finding("samples_replaced", "all were no numbers", 1000)])
    assert len(of_kind(decode_all(session), Notice)) == 2
    assert session.replaced_samples == 20_000


def test_a_live_backlog_drops_the_oldest_and_times_hold(open_session: Opener) -> None:
    session = open_session([(150, "turn")], options=SessionOptions(is_live=True), backlog_s=1.0)
    session.feed(chunk(3000))
    events = decode_all(session)
    (notice,) = of_kind(events, Notice)
    assert (notice.code, notice.count) == ("audio_dropped", 2000)
    (final,) = of_kind(events, Final)
    assert final.start_s == 2.15
    session.finish()
    assert decode_all(session)[-1] == SessionEnded("s", 3.0, 2000)


def test_a_patient_sender_loses_nothing(open_session: Opener) -> None:
    session = open_session(backlog_s=1.0)
    session.feed(chunk(3000))
    assert (session.dropped_samples, session.demand_s) == (0, 0.0)


def test_a_gap_of_the_source_takes_its_time(open_session: Opener) -> None:
    session = open_session([(250, "turn")])
    session.feed(chunk(200))
    session.feed(chunk(1000, gap=400))
    (final,) = of_kind(decode_all(session), Final)
    assert final.start_s == 0.65


def test_a_failure_is_the_end_and_frees_the_stream(open_session: Opener, engine: SayingEngine) -> None:
    session = open_session()
    session.fail(EngineFailed("out of luck"))
    session.finish()
    (event,) = decode_all(session)
    assert isinstance(event, Failed)
    assert (event.code, event.is_retryable) == ("engine_failed", False)
    assert engine.streams[0].is_closed


def test_a_cancelled_session_says_nothing_more(open_session: Opener, engine: SayingEngine) -> None:
    session = open_session([(100, "turn")])
    session.feed(chunk(500))
    session.cancel()
    assert not session.prepare()
    assert session.take_events() == []
    assert engine.streams[0].is_closed


@pytest.mark.parametrize("size", [1, 7, 33, 100, 250, 1999])
def test_the_cutting_of_the_audio_changes_nothing(open_session: Opener, size: int) -> None:
    session = open_session([(150, "turn"), (350, "on"), (1400, "off")])
    for start in range(0, 2000, size):
        session.feed(chunk(min(size, 2000 - start)))
    session.finish()
    finals = of_kind(decode_all(session), Final)
    assert [(final.text, final.start_s) for final in finals] == [("turn on", 0.15), ("off", 1.4)]


def a_tone(count: int) -> AudioChunk:
    return AudioChunk((0.1 * np.sin(np.arange(count))).astype(np.float32), RATE_HZ, 0, 1)


def syllables(count: int) -> AudioChunk:
    loudness = np.repeat(np.tile([0.02, 0.1, 0.2, 0.05], count), 20)[:count]
    return AudioChunk((loudness * np.sin(np.arange(count))).astype(np.float32), RATE_HZ, 0, 1)


def test_words_for_a_tone_are_not_said_where_the_engine_may_imagine_them(open_session: Opener) -> None:
    session = open_session([(300, "you")], may_imagine=True)
    session.feed(a_tone(3000))
    session.finish()
    assert decode_all(session) == [SessionEnded("s", 3.0, 0)]


def test_words_for_syllables_are(open_session: Opener) -> None:
    session = open_session([(300, "you")], may_imagine=True)
    session.feed(syllables(3000))
    (final,) = of_kind(decode_all(session), Final)
    assert final.text == "you"


def test_a_word_may_be_written_after_its_segment_was_cut(open_session: Opener) -> None:
    session = open_session([(100, "go"), (5100, "on")], may_imagine=True)
    session.feed(syllables(4900))
    session.feed(a_tone(1500))
    session.finish()
    assert [final.text for final in of_kind(decode_all(session), Final)] == ["go", "on"]
