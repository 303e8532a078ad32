from __future__ import annotations

from dataclasses import dataclass, field

from edge_asr.requests import SessionOptions
from edge_asr.sessions.scheduler import pick_batch


@dataclass(frozen=True)
class Waiting:
    name: str
    oldest_arrival_ns: int
    options: SessionOptions = field(default_factory=SessionOptions)
    is_suspect: bool = False


BATCH = SessionOptions(is_batch=True)


def names(batch: list[Waiting]) -> list[str]:
    return [session.name for session in batch]


def test_whoever_has_waited_longest_comes_first() -> None:
    assert names(pick_batch([Waiting("b", 20), Waiting("a", 10), Waiting("c", 30)], 2)) == ["a", "b"]


def test_live_sessions_keep_batch_work_out_of_their_step() -> None:
    assert names(pick_batch([Waiting("file", 1, BATCH), Waiting("live", 20)], 8)) == ["live"]


def test_batch_work_runs_when_nobody_live_is_ready() -> None:
    assert names(pick_batch([Waiting("y", 2, BATCH), Waiting("x", 1, BATCH)], 8)) == ["x", "y"]


def test_nobody_ready_is_an_empty_batch() -> None:
    assert pick_batch([], 8) == []


def test_a_suspect_is_decoded_alone_when_its_turn_comes() -> None:
    suspect, other, third = Waiting("suspect", 1, is_suspect=True), Waiting("other", 2), Waiting("third", 3)
    assert names(pick_batch([other, suspect, third], 8)) == ["suspect"]
    assert names(pick_batch([other, third, Waiting("late", 9, is_suspect=True)], 8)) == ["other", "third"]
