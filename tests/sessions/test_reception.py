"""What waits for the engine, and where its stream is closed; a thousand samples are a second."""

from __future__ import annotations

import numpy as np
import pytest

from edge_asr.audio import AudioChunk
from edge_asr.sessions.reception import Reception

RATE_HZ = 1000


def chunk(samples: int, gap_samples: int = 0) -> AudioChunk:
    return AudioChunk(np.zeros(samples, np.float32), RATE_HZ, 0, 1, gap_samples)


def reception(*chunks: AudioChunk, start: int = 0, replayed_s: float = 0.0) -> Reception:
    made = Reception(start, RATE_HZ, longest_s=2.0, replayed_s=replayed_s)
    for each in chunks:
        made.take(each, arrived_ns=1)
    return made


def test_positions_count_what_was_lost_and_begin_where_another_worker_ended() -> None:
    got = reception(chunk(300), chunk(200, gap_samples=50), start=1000)
    assert (got.received, got.waiting, got.position) == (1550, 500, 1050)
    got.pass_on(300)
    assert (got.waiting_s, got.position) == (0.2, 1350)


def test_audio_after_a_flush_is_not_passed_on_with_that_before_it() -> None:
    got = reception(chunk(300))
    got.flush()
    got.take(chunk(300), arrived_ns=2)
    assert len(got.pass_on(1000).samples) == 300
    got.answer_flush()
    assert len(got.pass_on(1000).samples) == 300


def test_a_flush_is_due_when_everything_before_it_has_gone_on() -> None:
    got = reception(chunk(300))
    got.flush()
    due = [got.due]
    for _ in range(2):
        got.pass_on(200)
        due.append(got.due)
    assert (got.has_flush, due) == (True, ["", "", "flush"])


def test_two_flushes_at_one_place_are_one() -> None:
    got = reception(chunk(300))
    got.flush()
    got.flush()
    got.pass_on(300)
    got.answer_flush()
    assert not got.has_flush


def test_the_end_is_due_when_nothing_waits_and_every_flush_is_answered() -> None:
    got = reception(chunk(300))
    got.flush()
    got.is_ending = True
    got.pass_on(300)
    due = [got.due]
    got.answer_flush()
    assert [*due, got.due] == ["flush", "end"]


@pytest.mark.parametrize(("samples", "is_enough"), [(489, False), (490, True), (500, True)])
def test_audio_is_gathered_up_to_what_a_resampler_holds_back(samples: int, is_enough: bool) -> None:
    assert reception(chunk(samples)).has_enough(0.5) == is_enough


def test_nobody_waits_for_more_audio_at_a_flush_at_the_end_or_at_a_gap() -> None:
    flushed, ending, lost, nothing = reception(chunk(10)), reception(chunk(10)), reception(chunk(0, 5)), reception()
    flushed.flush()
    ending.is_ending = True
    assert [each.has_enough(0.5) for each in (flushed, ending, lost, nothing)] == [True, True, True, False]


def test_more_may_wait_while_audio_is_said_again_and_no_longer_once_it_has_caught_up() -> None:
    got = reception(chunk(4500), replayed_s=2.0)
    assert (got.drop_what_is_too_old(), got.waiting) == (500, 4000)
    got.pass_on(3000)
    assert got.drop_what_is_too_old() == 0
    got.take(chunk(2500), arrived_ns=2)
    assert (got.drop_what_is_too_old(), got.waiting) == (1500, 2000)
