from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tools.peers_bench.children.child_loop import Samples, decode, listen, read_samples
from tools.peers_bench.recordings import silence


class Clock:
    """Time passes only while somebody sleeps or works."""

    def __init__(self) -> None:
        self.now_s = 50.0

    def read(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


class Slow:
    """A recogniser that works so long on each piece, and at the end."""

    def __init__(self, clock: Clock, piece_s: float, end_s: float) -> None:
        self.clock, self.piece_s, self.end_s = clock, piece_s, end_s
        self.began_s: list[float] = []
        self.samples = 0

    def transcribe(self, samples: Samples) -> str:
        return f"{len(samples)} samples"

    def open(self) -> None:
        self.samples = 0

    def accept(self, piece: Samples) -> None:
        self.began_s.append(self.clock.now_s)
        self.clock.now_s += self.piece_s
        self.samples += len(piece)

    def finish(self) -> str:
        self.clock.now_s += self.end_s
        return f"{self.samples} samples"


def heard(piece_s: float, end_s: float, samples: int = 4000) -> tuple[Slow, dict[str, object]]:
    clock = Clock()
    recogniser = Slow(clock, piece_s, end_s)
    return recogniser, listen(recogniser, np.zeros(samples, np.float32), clock.read, clock.sleep)


def test_a_piece_is_given_when_a_microphone_would_have_delivered_it() -> None:
    recogniser, _ = heard(piece_s=0.03, end_s=0.0)
    assert recogniser.began_s == pytest.approx([50.1, 50.2, 50.25])


def test_flush_counts_the_last_piece_and_the_end() -> None:
    _, answer = heard(piece_s=0.03, end_s=0.2)
    assert answer["flush_s"] == pytest.approx(0.23)
    assert answer["late_s"] == pytest.approx(0.0)
    assert answer["text"] == "4000 samples"


def test_who_falls_behind_pays_for_it_at_the_end() -> None:
    _, answer = heard(piece_s=0.5, end_s=0.0)
    assert answer["flush_s"] == pytest.approx(0.1 + 3 * 0.5 - 0.25)


def test_a_recording_is_decoded_whole() -> None:
    assert decode(Slow(Clock(), 0, 0), np.zeros(7, np.float32))["text"] == "7 samples"


def test_samples_are_read_from_a_wav(tmp_path: Path) -> None:
    samples = read_samples(str(silence(tmp_path, 0.5)))
    assert samples.shape == (8000,)
    assert samples.dtype == np.float32
