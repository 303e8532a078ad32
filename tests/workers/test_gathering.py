"""Small pieces become larger ones on their way to the worker, and never wait for what does not come."""

from __future__ import annotations

import pytest

from edge_asr.workers.gathering import RESTING_S, Gathering
from edge_asr.workers.quiet_watch import QuietWatch

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


STEP = 8 * PIECE


def told_of_step(gathering: Gathering, position: int) -> Gathering:
    gathering.heed(position, STEP, is_resting=False)
    return gathering


def test_pieces_wait_until_something_can_come_of_them(gathering: Gathering) -> None:
    told_of_step(gathering, 5 * PIECE)
    assert [len(gathering.add(bytes(PIECE))) // PIECE for _ in range(6)] == [0, 0, 0, 0, 5, 0]


def test_while_the_worker_is_busy_the_step_after_the_next_is_awaited(gathering: Gathering) -> None:
    told_of_step(gathering, 5 * PIECE)
    passed = [len(gathering.add(bytes(PIECE))) // PIECE for _ in range(22)]
    assert [(number, pieces) for number, pieces in enumerate(passed, 1) if pieces] == [(5, 5), (13, 8), (21, 8)]


def test_what_overshoots_a_step_counts_for_the_next_one(gathering: Gathering) -> None:
    told_of_step(gathering, 5 * PIECE)
    gathering.add(bytes(7 * PIECE))
    passed = [len(gathering.add(bytes(PIECE))) // PIECE for _ in range(6)]
    assert passed == [0, 0, 0, 0, 0, 6]


def test_what_waits_goes_when_the_worker_says_that_something_may_come_of_it(gathering: Gathering) -> None:
    told_of_step(gathering, 8 * PIECE)
    for _ in range(4):
        gathering.add(bytes(PIECE))
    gathering.heed(0, STEP, is_resting=False)
    assert len(gathering.take_enough()) == 4 * PIECE
    assert [len(gathering.add(bytes(PIECE))) // PIECE for _ in range(3)] == [0, 0, 3]


def test_what_a_busy_worker_says_of_a_step_that_has_its_audio_counts_for_the_next_one(gathering: Gathering) -> None:
    told_of_step(gathering, 5 * PIECE)
    gathering.add(bytes(6 * PIECE))
    told_of_step(gathering, 5 * PIECE)
    assert [len(gathering.add(bytes(PIECE))) // PIECE for _ in range(7)] == [0, 0, 0, 0, 0, 0, 7]


def test_no_more_than_a_step_waits_whatever_the_worker_says(gathering: Gathering) -> None:
    told_of_step(gathering, 100 * PIECE)
    assert [len(gathering.add(bytes(PIECE))) // PIECE for _ in range(9)] == [0] * 7 + [8, 0]


def test_another_worker_says_anew_what_it_waits_for(gathering: Gathering) -> None:
    told_of_step(gathering, 100 * PIECE)
    gathering.begin(10 * PIECE)
    assert len(gathering.add(bytes(3 * PIECE))) == 3 * PIECE
    told_of_step(gathering, 18 * PIECE)
    assert [len(gathering.add(bytes(PIECE))) // PIECE for _ in range(5)] == [0, 0, 0, 0, 5]


def test_another_worker_begins_with_nothing_held_and_awake(gathering: Gathering) -> None:
    gathering.is_resting = True
    gathering.add(bytes(PIECE))
    gathering.begin(0)
    assert (gathering.take(), gathering.is_resting) == (b"", False)


QUIET_DBFS = -50.0
SILENT, LOUD = bytes(PIECE), bytes(range(64)) * (PIECE // 64)


@pytest.fixture
def watched() -> Gathering:
    return Gathering(SECOND, 0.06, QuietWatch(SECOND // 2))


def passed(gathering: Gathering, pieces: list[bytes]) -> list[tuple[int, int]]:
    """Which piece made how many pass on."""
    counts = [len(gathering.add(piece)) // PIECE for piece in pieces]
    return [(number, count) for number, count in enumerate(counts, 1) if count]


def rest(gathering: Gathering) -> None:
    gathering.heed(0, STEP, is_resting=True, quiet_dbfs=QUIET_DBFS)


def test_what_is_as_quiet_as_before_waits_longer(watched: Gathering) -> None:
    rest(watched)
    assert passed(watched, [SILENT] * 50) == [(23, 23), (46, 23)]


def test_a_sound_ends_the_rest_until_the_worker_finds_silence_again(watched: Gathering) -> None:
    rest(watched)
    assert passed(watched, [SILENT] * 15 + [LOUD] + [SILENT] * 3) == [(16, 16), (19, 3)]
    assert not watched.is_resting
    rest(watched)
    assert passed(watched, [SILENT] * 23) == [(23, 23)]


def test_where_loudness_does_not_tell_nothing_waits_longer(watched: Gathering) -> None:
    watched.heed(0, STEP, is_resting=True, quiet_dbfs=None)
    assert passed(watched, [SILENT] * 18) == [(9, 9), (18, 9)]


def test_what_came_before_the_session_rested_was_not_listened_to(watched: Gathering) -> None:
    watched.add(LOUD)
    rest(watched)
    assert passed(watched, [SILENT] * 31) == [(8, 9), (31, 23)]


def test_a_session_that_rests_no_more_is_not_held_up(watched: Gathering) -> None:
    rest(watched)
    assert passed(watched, [SILENT] * 12) == []
    watched.heed(0, STEP, is_resting=False)
    assert len(watched.take_enough()) == 12 * PIECE
    assert passed(watched, [SILENT] * 3) == [(3, 3)]


def test_another_worker_says_anew_what_is_quiet(watched: Gathering) -> None:
    rest(watched)
    watched.begin(0)
    watched.is_resting = True
    assert passed(watched, [SILENT] * 9) == [(9, 9)]
