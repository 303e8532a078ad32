"""Audio of the microphone that waits for a session: while the model loads, or all sessions are in use. Pure."""

from __future__ import annotations

from collections import deque

from edge_asr.listening.messages import SAMPLE_BYTES, SAMPLE_RATE_HZ, Captured

MOST_S = 10.0
"""Held at most; what is older is forgotten. So the words said while the daemon starts are not lost."""

MOST_GAP_S = 10.0
"""Silence put in place of lost audio, at most."""


class Backlog:
    """Pieces in order, and where the microphone was lost between them."""

    def __init__(self) -> None:
        self._pieces: deque[Captured | None] = deque()
        self._samples = 0

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self._pieces)

    @property
    def is_at_end(self) -> bool:
        """Whether the microphone was lost before the next piece."""
        return bool(self._pieces) and self._pieces[0] is None

    def put(self, piece: Captured) -> None:
        """Append a piece; the oldest are forgotten when it becomes too much."""
        self._pieces.append(piece)
        self._samples += _samples(piece)
        while self._samples > MOST_S * SAMPLE_RATE_HZ:
            self.take()

    def end(self) -> None:
        """The microphone is lost: what follows belongs to another session."""
        self._pieces.append(None)

    def take(self) -> Captured:
        """The oldest piece; passes over a place where the microphone was lost."""
        piece = self._pieces.popleft()
        while piece is None:
            piece = self._pieces.popleft()
        self._samples -= _samples(piece)
        return piece

    def pass_end(self) -> None:
        """The session before the place where the microphone was lost is done with."""
        if self.is_at_end:
            self._pieces.popleft()


def _samples(piece: Captured) -> int:
    return len(piece.pcm) // SAMPLE_BYTES


def as_bytes(piece: Captured, *, is_first: bool) -> bytes:
    """The piece as a session takes it: with silence for what was lost before it, so that times hold."""
    if is_first or not piece.gap_samples:
        return piece.pcm
    return bytes(SAMPLE_BYTES * min(piece.gap_samples, round(MOST_GAP_S * SAMPLE_RATE_HZ))) + piece.pcm


def start_ns(piece: Captured) -> int:
    """When its first sample was captured."""
    return piece.captured_ns - round(_samples(piece) / SAMPLE_RATE_HZ * 1e9)
