"""Audio that waits for a session."""

from __future__ import annotations

from edge_asr.listening.backlog import MOST_S, Backlog, as_bytes, start_ns
from tests.listening.pieces import PIECE_NS, piece


def test_pieces_come_out_in_order() -> None:
    backlog = Backlog()
    backlog.put(piece(0))
    backlog.put(piece(1))
    assert [backlog.take(), backlog.take()] == [piece(0), piece(1)]
    assert not backlog


def test_the_oldest_are_forgotten_when_nobody_takes_them() -> None:
    backlog = Backlog()
    for number in range(round(10 * MOST_S) + 3):
        backlog.put(piece(number))
    assert backlog.take() == piece(3)


def test_the_place_where_the_microphone_was_lost_is_seen_when_it_is_reached() -> None:
    backlog = Backlog()
    backlog.put(piece(0))
    backlog.end()
    backlog.put(piece(1))
    assert not backlog.is_at_end
    backlog.take()
    assert backlog.is_at_end
    backlog.pass_end()
    assert backlog.take() == piece(1)


def test_silence_stands_for_what_was_lost_except_before_the_first_sample() -> None:
    holed = piece(1, gap_samples=5)
    assert as_bytes(holed, is_first=False) == bytes(10) + holed.pcm
    assert as_bytes(holed, is_first=True) == holed.pcm


def test_a_piece_begins_its_length_before_it_was_delivered() -> None:
    assert start_ns(piece(4)) == 4 * PIECE_NS
