from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.audio import Float32Array
from edge_asr.sessions.backlog import Backlog


def ramp(start: int, length: int) -> Float32Array:
    return np.arange(start, start + length, dtype=np.float32)


def test_samples_come_out_in_order_and_in_the_size_asked_for() -> None:
    backlog = Backlog()
    backlog.push(ramp(0, 5), 1)
    backlog.push(ramp(5, 2), 2)
    popped = [backlog.pop(3) for _ in range(3)]
    assert [piece.samples.tolist() for piece in popped] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [piece.arrived_ns for piece in popped] == [1, 2, 2]
    assert not backlog


def test_what_lies_on_two_sides_of_a_gap_comes_out_apart() -> None:
    backlog = Backlog()
    backlog.push(ramp(0, 2), 1)
    backlog.push(ramp(2, 2), 2, gap_samples=9)
    assert [(piece.samples.tolist(), piece.gap_samples) for piece in (backlog.pop(10), backlog.pop(10))] == [
        ([0, 1], 0),
        ([2, 3], 9),
    ]


def test_the_oldest_arrival_is_that_of_the_first_piece_left() -> None:
    backlog = Backlog()
    backlog.push(ramp(0, 5), 7)
    backlog.push(ramp(5, 5), 9)
    backlog.pop(5)
    assert backlog.oldest_arrival_ns == 9


def test_dropped_samples_become_a_gap_before_what_stays() -> None:
    backlog = Backlog()
    backlog.push(ramp(0, 5), 1, gap_samples=100)
    backlog.push(ramp(5, 5), 2)
    assert backlog.drop_oldest(keep=3) == 7
    piece = backlog.pop(10)
    assert (piece.samples.tolist(), piece.gap_samples) == ([7, 8, 9], 107)


def test_a_gap_survives_when_nothing_stays() -> None:
    backlog = Backlog()
    backlog.push(ramp(0, 5), 1)
    backlog.drop_oldest(keep=0)
    assert (len(backlog), bool(backlog), backlog.pop(10).gap_samples) == (0, True, 5)


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=8),
    st.lists(st.one_of(st.integers(1, 12), st.integers(-40, 0)), max_size=12),
)
def test_nothing_is_lost_uncounted(pushes: list[tuple[int, int]], actions: list[int]) -> None:
    backlog = Backlog()
    for length, gap in pushes:
        backlog.push(ramp(0, length), 0, gap)
    seen = 0
    for action in actions:
        if action <= 0:
            backlog.drop_oldest(-action)
        elif backlog:
            piece = backlog.pop(action)
            seen += len(piece.samples) + piece.gap_samples
    while backlog:
        piece = backlog.pop(1000)
        seen += len(piece.samples) + piece.gap_samples
    assert seen == sum(length + gap for length, gap in pushes)
