from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from edge_asr.requests import SessionOptions
from edge_asr.workers.history import History, Recording

OPTIONS = SessionOptions(sample_rate_hz=8000, encoding="s16le")
"""16,000 bytes a second."""


def said(history: History) -> list[bytes | None]:
    """What would be said again, neighbouring pieces joined."""
    joined: list[bytes | None] = []
    for piece in history.pieces():
        if piece is not None and joined and joined[-1] is not None:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


@given(st.lists(st.binary(max_size=50), max_size=20), st.floats(0, 0.1))
def test_what_is_not_settled_is_kept_to_the_byte(pieces: list[bytes], position_s: float) -> None:
    history = History(OPTIONS)
    for piece in pieces:
        history.add(piece)
    whole = b"".join(pieces)

    history.settle(position_s, 1, 0)

    start = min(round(position_s * 8000) * 2, len(whole))
    assert b"".join(piece for piece in history.pieces() if piece) == whole[start:]
    assert (history.start_bytes, history.end_bytes) == (start, len(whole))
    assert history.resume(is_suspect=False).position_s == start / 16_000


def test_flushes_stand_where_they_were_asked_for() -> None:
    history = History(OPTIONS)
    history.add(b"aabb")
    history.flush()
    history.add(b"cc")
    history.flush()
    assert said(history) == [b"aabb", None, b"cc", None]


def test_a_flush_that_was_answered_is_forgotten_though_the_position_falls_short_of_it() -> None:
    history = History(OPTIONS)
    history.add(b"aabb")
    history.flush()
    history.add(b"cc")
    history.settle(2 / 16_000, 1, 0, flushes=1)  # a resampler still held the rest
    assert said(history) == [b"bbcc"]


def test_a_flush_at_the_settled_place_that_was_not_answered_is_asked_for_again() -> None:
    history = History(OPTIONS)
    history.add(b"aabb")
    history.flush()
    history.settle(4 / 16_000, 1, 0)
    assert said(history) == [None]


def test_asking_for_a_flush_again_and_again_at_one_place_keeps_one() -> None:
    history = History(OPTIONS)
    history.add(b"aa")
    for _ in range(1000):
        history.flush()
    assert said(history) == [b"aa", None]


def test_the_next_worker_counts_flushes_anew() -> None:
    history = History(OPTIONS)
    for piece in (b"aa", b"bb"):
        history.add(piece)
        history.flush()
    history.settle(2 / 16_000, 1, 0, flushes=1)
    history.resume(is_suspect=False)
    history.settle(4 / 16_000, 2, 0, flushes=1)
    assert said(history) == []


def test_the_next_worker_is_told_segment_losses_and_partials_seen() -> None:
    history = History(OPTIONS)
    history.settle(0.0, 3, 80)
    history.seen_revisions = 2
    resume = history.resume(is_suspect=True)
    assert (resume.segment, resume.revision, resume.dropped_samples, resume.is_suspect) == (3, 2, 80, True)


def test_partials_of_a_closed_segment_are_not_owed_a_final() -> None:
    history = History(OPTIONS)
    history.seen_revisions = 2
    history.settle(0.5, 1, 0)
    assert history.resume(is_suspect=False).revision == 0


def test_positions_do_not_go_back() -> None:
    history = History(OPTIONS)
    history.add(bytes(16_000))
    history.settle(0.5, 2, 0)
    history.settle(0.2, 1, 0)
    assert (history.start_bytes, history.resume(is_suspect=False).segment) == (8000, 2)


def test_a_recording_goes_on_at_the_settled_position() -> None:
    history = History(OPTIONS)
    history.recording = Recording(Path("upload.wav"), 10.0)
    history.settle(2.5, 1, 0)
    assert history.resume(is_suspect=False).position_s == 2.5
