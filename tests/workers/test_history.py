from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from edge_asr.requests import FrontMark, GateMark, LeadIn, SessionOptions
from edge_asr.workers.history import JOINED_BYTES, History, Recording

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


def test_small_pieces_are_said_again_in_few_messages() -> None:
    history = History(OPTIONS)
    for number in range(2 * JOINED_BYTES):
        history.add(bytes([number % 251]))

    again = list(history.pieces())

    assert len(again) == 2
    assert b"".join(piece for piece in again if piece) == bytes(number % 251 for number in range(2 * JOINED_BYTES))


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


def lead_in(start: int, end: int, mark: int) -> LeadIn:
    """Positions in bytes."""
    place = GateMark(
        position_s=mark / 16_000, step_offset=0, is_open=end == mark, background_dbfs=-60.0, silent_samples=0
    )
    return LeadIn(start_s=start / 16_000, end_s=end / 16_000, mark=place)


def settled_with(history: History, position: int, again: LeadIn) -> tuple[bytes | None, ...]:
    history.settle(position / 16_000, 1, 0, lead_in=again)
    return tuple(said(history))


def test_what_comes_before_the_settled_audio_is_said_first() -> None:
    history = History(OPTIONS)
    history.add(b"aabbccdd")
    history.add(b"eeff")
    assert settled_with(history, 8, lead_in(2, 6, 6)) == (b"bbccddeeff",)
    assert (history.start_bytes, history.kept_bytes) == (2, 4)
    assert history.resume(is_suspect=False).lead_in == lead_in(2, 6, 6)


def test_silence_after_it_is_left_out() -> None:
    history = History(OPTIONS)
    history.add(b"aabb----ccdd")
    assert settled_with(history, 10, lead_in(2, 4, 8)) == (b"bbccdd",)
    assert history.start_bytes == 6  # as long before the mark as the audio is
    history.add(b"------ee")
    assert settled_with(history, 18, lead_in(2, 4, 18)) == (b"bbee",)


def test_the_next_one_is_cut_from_the_one_before_and_what_follows_it() -> None:
    history = History(OPTIONS)
    history.add(b"aabbccddee")
    settled_with(history, 6, lead_in(2, 6, 6))
    assert settled_with(history, 8, lead_in(4, 8, 8)) == (b"ccddee",)
    assert history.resume(is_suspect=False).lead_in == lead_in(4, 8, 8)


def test_where_less_is_kept_it_is_shorter() -> None:
    history = History(OPTIONS)
    history.add(b"aabbccdd")
    history.settle(4 / 16_000, 1, 0)
    assert settled_with(history, 6, lead_in(2, 6, 6)) == (b"ccdd",)
    assert history.resume(is_suspect=False).lead_in == lead_in(4, 6, 6)


def test_forgetting_it_leaves_what_is_not_settled() -> None:
    history = History(OPTIONS)
    history.add(b"aabbccdd")
    settled_with(history, 6, lead_in(2, 4, 4))
    history.forget_lead_in()
    assert said(history) == [b"dd"]
    assert history.resume(is_suspect=False).lead_in is None


def test_a_flush_within_what_is_settled_was_answered() -> None:
    history = History(OPTIONS)
    history.add(b"aabb")
    history.flush()
    history.add(b"cc")
    assert settled_with(history, 6, lead_in(2, 6, 6)) == (b"bbcc",)


def test_a_recording_needs_its_lead_in_without_a_hole() -> None:
    history = History(OPTIONS)
    history.recording = Recording(Path("upload.wav"), 10.0)
    history.settle(1.0, 1, 0, lead_in=lead_in(8_000, 15_000, 16_000))
    assert history.resume(is_suspect=False).lead_in is None
    history.settle(1.0, 1, 0, lead_in=lead_in(8_000, 16_000, 16_000))
    assert history.resume(is_suspect=False).lead_in == lead_in(8_000, 16_000, 16_000)


def test_the_next_worker_is_told_what_the_front_went_by() -> None:
    history, mark = History(OPTIONS), FrontMark(offset=0.2, offset_before=0.1)
    history.add(b"aabbccdd")
    history.settle(2 / 16_000, 1, 0, front=mark)
    assert history.resume(is_suspect=False).front == mark
    history.settle(4 / 16_000, 2, 0)
    assert history.resume(is_suspect=False).front is None
