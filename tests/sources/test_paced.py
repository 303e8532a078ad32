"""Pieces are released when a microphone would have delivered them."""

from __future__ import annotations

import io

from edge_asr.clock import ManualClock
from edge_asr.sources.paced import PacedSource
from edge_asr.sources.pcm import PcmLayout
from edge_asr.sources.pcm_source import PcmSource
from tests.sources.conftest import s16le, tone


class Bench:
    """A clock that a sleeper moves."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.slept_s: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        self.clock.advance_ms(seconds * 1000)

    def source(self, seconds: float) -> PacedSource:
        samples = PcmSource(io.BytesIO(s16le(tone(seconds))), "x", PcmLayout("s16le", 16_000, 1))
        return PacedSource(samples, self.clock, self.sleep)


def test_a_piece_comes_every_tenth_of_a_second() -> None:
    bench = Bench()
    arrivals = [bench.clock.now_ns() for _ in bench.source(0.5)]

    assert arrivals == [100_000_000, 200_000_000, 300_000_000, 400_000_000, 500_000_000]


def test_time_spent_on_a_piece_is_not_slept_again() -> None:
    bench = Bench()
    for _ in bench.source(0.3):
        bench.clock.advance_ms(40)

    assert [round(seconds, 3) for seconds in bench.slept_s] == [0.1, 0.06, 0.06]


def test_a_late_listener_gets_the_next_pieces_at_once_and_no_drift() -> None:
    bench = Bench()
    arrivals = []
    for piece in bench.source(0.5):
        arrivals.append(bench.clock.now_ns() // 1_000_000)
        if piece.start_sample == 0:
            bench.clock.advance_ms(250)

    assert arrivals == [100, 350, 350, 400, 500]


def test_a_piece_is_stamped_with_the_moment_it_was_due() -> None:
    bench = Bench()
    stamps = []
    for piece in bench.source(0.3):
        stamps.append(piece.captured_ns // 1_000_000)
        bench.clock.advance_ms(500)

    assert stamps == [100, 200, 300]


def test_pieces_are_numbered_without_a_hole() -> None:
    pieces = list(Bench().source(1.03))

    assert [piece.start_sample for piece in pieces[1:]] == [
        piece.start_sample + len(piece.samples) for piece in pieces[:-1]
    ]
    assert sum(len(piece.samples) for piece in pieces) == round(1.03 * 16_000)
