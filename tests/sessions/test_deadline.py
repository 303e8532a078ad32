from __future__ import annotations

from edge_asr.sessions.deadline import Deadline


def test_a_live_step_is_due_one_period_after_its_audio() -> None:
    deadline = Deadline(100)
    deadline.set(1000)
    assert (deadline.ready_ns, deadline.due_ns) == (1000, 1100)
    deadline.set(1100)
    assert deadline.due_ns == 1200


def test_audio_that_came_at_once_is_due_at_the_pace_of_speech() -> None:
    deadline = Deadline(100)
    due = []
    for _ in range(3):
        deadline.set(1000)
        due.append(deadline.due_ns)
    assert due == [1100, 1200, 1300]


def test_a_stream_that_has_caught_up_is_live_again() -> None:
    deadline = Deadline(100)
    for _ in range(20):
        deadline.set(1000)
    deadline.catch_up()
    deadline.set(1500)
    assert deadline.due_ns == 1600


def test_the_end_is_due_half_a_period_after_the_last_audio_however_far_that_was_ahead() -> None:
    deadline = Deadline(100)
    deadline.set(1000)
    deadline.set(1000)
    deadline.set_end(1050)
    assert (deadline.ready_ns, deadline.due_ns) == (1050, 1100)
