from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from edge_asr.requests import SessionOptions
from edge_asr.sessions.scheduler import Choice, Scheduler
from edge_asr.settings import SchedulerSettings

MS = 1_000_000
BATCH = SessionOptions(is_batch=True)


@dataclass(frozen=True)
class Waiting:
    name: str
    due_ns: int
    options: SessionOptions = field(default_factory=SessionOptions)
    ready_ns: int = 0
    is_closing: bool = False
    is_suspect: bool = False


def names(choice: Choice[Waiting]) -> list[str]:
    return [session.name for session in choice.batch]


def chosen(ready: list[Waiting], max_batch: int, *, may_follow: int = 0) -> list[str]:
    return names(Scheduler(max_batch).choose(ready, may_follow, now_ns=0))


def test_the_earliest_deadline_comes_first() -> None:
    assert chosen([Waiting("b", 20), Waiting("a", 10), Waiting("c", 30)], 2) == ["a", "b"]


def test_of_equal_deadlines_the_one_that_was_ready_first_wins() -> None:
    assert chosen([Waiting("late", 5, ready_ns=4), Waiting("early", 5, ready_ns=3)], 1) == ["early"]


def test_live_sessions_keep_recordings_out_of_their_step() -> None:
    assert chosen([Waiting("file", 1, BATCH), Waiting("live", 20)], 8) == ["live"]


def test_recordings_share_a_step_when_nobody_live_is_there() -> None:
    assert chosen([Waiting("y", 2, BATCH), Waiting("x", 1, BATCH)], 8) == ["x", "y"]


def test_recordings_are_decoded_one_at_a_time_while_somebody_live_may_become_ready() -> None:
    assert chosen([Waiting("y", 2, BATCH), Waiting("x", 1, BATCH)], 8, may_follow=1) == ["x"]


def test_nobody_ready_is_an_empty_batch() -> None:
    assert Scheduler(8, window_ns=MS).choose([], 3, 0) == Choice((), None)


def test_a_suspect_is_decoded_alone_when_its_turn_comes() -> None:
    suspect, other, third = Waiting("suspect", 1, is_suspect=True), Waiting("other", 2), Waiting("third", 3)
    assert chosen([other, suspect, third], 8) == ["suspect"]
    assert chosen([other, third, Waiting("late", 9, is_suspect=True)], 8) == ["other", "third"]
    assert chosen([Waiting("file", 1, BATCH), Waiting("suspect", 2, BATCH, is_suspect=True)], 8) == ["file"]


def test_a_window_waits_for_others_from_the_moment_the_first_was_ready() -> None:
    scheduler = Scheduler(8, window_ns=20 * MS)
    ready = [Waiting("a", 400 * MS, ready_ns=100 * MS), Waiting("b", 390 * MS, ready_ns=110 * MS)]
    assert scheduler.choose(ready, 1, 115 * MS) == Choice((), 120 * MS)
    assert names(scheduler.choose(ready, 1, 120 * MS)) == ["b", "a"]


@pytest.mark.parametrize(
    ("ready", "may_follow"),
    [
        ([Waiting("a", 400 * MS), Waiting("b", 400 * MS)], 1),  # full
        ([Waiting("a", 400 * MS)], 0),  # nobody else is there
        ([Waiting("a", 400 * MS, is_closing=True)], 1),  # somebody waits for a final
        ([Waiting("a", 3 * MS)], 1),  # its deadline comes first
    ],
)
def test_a_window_is_not_waited_for_in_vain(ready: list[Waiting], may_follow: int) -> None:
    assert names(Scheduler(2, window_ns=20 * MS).choose(ready, may_follow, 5 * MS)) == [each.name for each in ready]


def test_the_engine_decides_whether_batches_are_worth_it() -> None:
    settings = SchedulerSettings(max_batch=16, window_ms=10)
    assert Scheduler.for_engine(settings, streams_per_step=0) == Scheduler(16, 10 * MS)
    assert Scheduler.for_engine(settings, streams_per_step=1) == Scheduler(1, 0)
    assert Scheduler.for_engine(settings, streams_per_step=4) == Scheduler(4, 0, is_shared_out=True)


@pytest.mark.parametrize(
    ("busy_share", "together"), [(0.0, ["a"]), (0.24, ["a"]), (0.25, ["a", "b"]), (1.0, ["a", "b"])]
)
def test_threads_share_a_step_only_when_time_is_getting_short(busy_share: float, together: list[str]) -> None:
    ready = [Waiting("b", 20), Waiting("a", 10), Waiting("c", 30)]
    assert names(Scheduler(2, is_shared_out=True).choose(ready, 0, 0, busy_share)) == together
    assert names(Scheduler(2).choose(ready, 0, 0, busy_share)) == ["a", "b"]


def test_threads_share_a_step_when_somebody_waits_for_a_final() -> None:
    ready = [Waiting("a", 10), Waiting("b", 20), Waiting("c", 30, is_closing=True)]
    assert names(Scheduler(2, is_shared_out=True).choose(ready, 0, 0, busy_share=0.0)) == ["a", "b"]
