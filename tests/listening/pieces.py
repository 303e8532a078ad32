"""Pieces of audio as a recording process says them."""

from __future__ import annotations

from edge_asr.listening.messages import Captured

PIECE_SAMPLES = 1600
PIECE_NS = 100_000_000


def piece(number: int, *, gap_samples: int = 0, is_silent: bool = False, overruns: int = 0) -> Captured:
    """The ``number``-th tenth of a second, all of whose bytes are its number."""
    return Captured(
        pcm=bytes([number % 256]) * (2 * PIECE_SAMPLES),
        gap_samples=gap_samples,
        captured_ns=(number + 1) * PIECE_NS,
        overruns=overruns,
        peak_dbfs=-12.0,
        rms_dbfs=-20.0,
        is_silent=is_silent,
    )
