from __future__ import annotations

import pytest

from edge_asr.sessions.busy_share import BusyShare

MS = 1_000_000


def after(busy: BusyShare, steps: int, step_ms: int, every_ms: int, begin_ms: int = 0) -> float:
    for number in range(1, steps + 1):
        ended_ms = begin_ms + number * every_ms
        busy.add((ended_ms - step_ms) * MS, ended_ms * MS)
    return busy.value


def test_nothing_is_known_before_there_is_a_time_between_two_steps() -> None:
    assert after(BusyShare(), 1, step_ms=5, every_ms=5) == 0.0


def test_it_comes_to_the_time_in_steps_by_the_time_in_all() -> None:
    assert after(BusyShare(), 200, step_ms=5, every_ms=50) == pytest.approx(0.1, abs=0.001)


def test_a_pause_is_forgotten_within_seconds_and_so_is_hurry() -> None:
    busy = BusyShare()
    assert after(busy, 30, step_ms=100, every_ms=100) > 0.9
    assert after(busy, 1, step_ms=100, every_ms=5000, begin_ms=3000) < 0.05
