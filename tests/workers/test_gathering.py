"""Small pieces become larger ones on their way to the worker, and never wait for what does not come."""

from __future__ import annotations

import pytest

from edge_asr.workers.gathering import RESTING_S, Gathering

SECOND = 32_000
PIECE = SECOND // 50


@pytest.fixture
def gathering() -> Gathering:
    return Gathering(SECOND, 0.06)


def test_pieces_are_joined_until_there_is_enough_to_look_at(gathering: Gathering) -> None:
    pieces = [bytes([number]) * PIECE for number in range(6)]
    assert [gathering.add(piece) for piece in pieces] == [
        b"",
        b"",
        b"".join(pieces[:3]),
        b"",
        b"",
        b"".join(pieces[3:]),
    ]


def test_a_large_piece_passes_as_it_is(gathering: Gathering) -> None:
    piece = bytes(SECOND // 10)
    assert gathering.add(piece) is piece


def test_more_is_joined_while_the_session_rests(gathering: Gathering) -> None:
    gathering.is_resting = True
    passed = [len(gathering.add(bytes(PIECE))) for _ in range(9)]
    assert passed == [0] * 8 + [9 * PIECE]
    assert passed[-1] >= RESTING_S * SECOND


def test_what_was_held_is_enough_once_the_session_does_not_rest_any_more(gathering: Gathering) -> None:
    gathering.is_resting = True
    for _ in range(4):
        gathering.add(bytes(PIECE))
    gathering.is_resting = False
    assert len(gathering.take_enough()) == 4 * PIECE
    assert gathering.take_enough() == b""


def test_before_something_else_is_said_everything_goes(gathering: Gathering) -> None:
    gathering.add(b"\x01\x02")
    gathering.add(b"\x03\x04")
    assert gathering.take() == b"\x01\x02\x03\x04"
    assert gathering.take() == b""


def test_another_worker_begins_with_nothing_held_and_awake(gathering: Gathering) -> None:
    gathering.is_resting = True
    gathering.add(bytes(PIECE))
    gathering.begin()
    assert (gathering.take(), gathering.is_resting) == (b"", False)
