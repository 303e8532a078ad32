from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edge_asr.engines.stretch import Heard, StretchTracker, quietest

SPEECH, PAUSE = Heard(-20.0, True), Heard(-60.0, False)


def tracker(*heard: Heard) -> StretchTracker:
    made = StretchTracker()
    for window in heard:
        made.hear(window)
    return made


def test_silence_opens_no_stretch():
    assert tracker(PAUSE, PAUSE).speech_begin is None


def test_a_stretch_begins_with_the_first_window_of_speech():
    track = tracker(PAUSE, SPEECH, SPEECH, PAUSE)
    assert (track.speech_begin, track.speech_end, track.silence) == (1, 3, 1)


def test_a_pause_does_not_end_a_stretch():
    track = tracker(SPEECH, *[PAUSE] * 100, SPEECH)
    assert (track.speech_begin, track.speech_end, track.silence) == (0, 102, 0)


def test_speech_after_a_boundary_is_an_open_stretch_again():
    track = tracker(SPEECH, PAUSE, SPEECH, SPEECH)
    track.close_before(1)
    assert (track.speech_begin, track.speech_end) == (2, 4)


def test_without_speech_after_a_boundary_nothing_is_open():
    track = tracker(SPEECH, PAUSE, PAUSE)
    track.close_before(1)
    assert track.speech_begin is None
    assert track.position == 3


def test_a_cut_goes_where_it_is_quietest():
    loud, lull = Heard(-20.0, True), Heard(-45.0, True)
    track = tracker(*[loud] * 20, *[lull] * 5, *[loud] * 20)
    assert track.best_cut(0, 44) == 22


def test_a_cut_stays_within_its_limits():
    track = tracker(*[SPEECH] * 10, *[PAUSE] * 10)
    assert 2 <= track.best_cut(2, 5) <= 5


@given(st.lists(st.floats(-120, 0), min_size=1, max_size=200))
def test_the_quietest_place_is_one_of_the_windows(levels):
    assert 0 <= quietest(levels) < len(levels)


@given(st.lists(st.booleans(), max_size=100), st.integers(0, 100))
def test_a_boundary_keeps_exactly_the_speech_behind_it(flags, boundary):
    track = tracker(*(SPEECH if flag else PAUSE for flag in flags))
    begin = track.speech_begin
    track.close_before(boundary)
    kept = [
        number for number, flag in enumerate(flags) if flag and begin is not None and number >= max(begin, boundary)
    ]
    assert track.speech_begin == (kept[0] if kept else None)
    assert track.position == len(flags)
