"""One course of time over the sessions before and after a loss."""

from __future__ import annotations

from edge_asr.events import Final, Partial, SessionEnded, Word
from edge_asr.listening.timeline import Timeline
from tests.support.values import ended, final, partial

SECOND_NS = 1_000_000_000


def test_times_count_from_the_first_sample_ever_and_segments_are_numbered_through() -> None:
    timeline = Timeline()
    before = timeline.begin_session(5 * SECOND_NS)
    first = before.shifted(final("one", segment=0))
    after = timeline.begin_session(17 * SECOND_NS)
    heard = [after.shifted(partial("two", 0, segment=0)), after.shifted(final("two", segment=0))]

    assert isinstance(first, Final)
    assert (first.segment, first.start_s, first.end_s) == (0, 0.0, 1.0)
    assert all(isinstance(event, Partial | Final) and event.segment == 1 for event in heard)
    assert isinstance(heard[1], Final)
    assert (heard[1].start_s, heard[1].end_s) == (12.0, 13.0)
    assert heard[1].words == (Word("two", 12.0, 13.0, 0.5),)


def test_other_events_pass_as_they_are() -> None:
    event = Timeline().begin_session(0).shifted(ended())
    assert isinstance(event, SessionEnded)
    assert event == ended()
