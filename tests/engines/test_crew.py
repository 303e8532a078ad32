from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from edge_asr.engines.crew import Crew

PATIENCE_S = 30


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_every_item_is_worked_on_once(size: int) -> None:
    crew, done = Crew(size), list[int]()
    crew.share(done.extend, list(range(7)))
    crew.close()
    assert sorted(done) == list(range(7))


def test_parts_are_worked_on_at_the_same_time() -> None:
    crew, together, places = Crew(2), threading.Barrier(2), list[int]()
    crew.share(lambda _part: places.append(together.wait(PATIENCE_S)), ["a", "b"])
    crew.close()
    assert sorted(places) == [0, 1]


def test_a_single_item_stays_on_the_calling_thread() -> None:
    crew, threads = Crew(4), list[int]()
    crew.share(lambda _part: threads.append(threading.get_ident()), ["only"])
    crew.close()
    assert threads == [threading.get_ident()]


@pytest.mark.parametrize("broken", ["a", "b"])
def test_a_failure_is_raised_when_the_others_are_done(broken: str) -> None:
    crew, done = Crew(2), list[str]()

    def work(part: Sequence[str]) -> None:
        if broken in part:
            raise RuntimeError(broken)
        done.extend(part)

    with pytest.raises(RuntimeError, match=broken):
        crew.share(work, ["a", "b"])
    crew.close()
    assert done == [{"a": "b", "b": "a"}[broken]]
