"""A recording played at the pace of speech: each piece is released when a microphone would have delivered it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from edge_asr.audio import AudioChunk
from edge_asr.clock import Clock
from edge_asr.sources.base import AudioSource

PIECE_S = 0.1
"""What a microphone delivers at a time."""


class PacedSource:
    """Releases pieces on absolute deadlines, so that a late one does not delay the rest.

    ``captured_ns`` of a piece is its deadline: whoever measures from it also counts our own lateness.

    Args:
        source: Read as needed; closed with this one.
        clock: What deadlines are read from.
        sleep: Waits so many seconds.
    """

    def __init__(self, source: AudioSource, clock: Clock, sleep: Callable[[float], None]) -> None:
        self._source = source
        self._clock = clock
        self._sleep = sleep

    @property
    def sample_rate_hz(self) -> int:
        """Rate of every chunk."""
        return self._source.sample_rate_hz

    @property
    def channels(self) -> int:
        """Channels of the recording."""
        return self._source.channels

    @property
    def duration_s(self) -> float | None:
        """Length in seconds, where it is known."""
        return self._source.duration_s

    @property
    def warnings(self) -> Sequence[str]:
        """What the source found so far."""
        return self._source.warnings

    def __iter__(self) -> Iterator[AudioChunk]:
        """The pieces, each at its time; the first after its own length."""
        start_ns = self._clock.now_ns()
        for piece in self._pieces():
            end_sample = piece.start_sample + len(piece.samples)
            deadline_ns = start_ns + round(end_sample * 1e9 / piece.sample_rate_hz)
            early_ns = deadline_ns - self._clock.now_ns()
            if early_ns > 0:
                self._sleep(early_ns / 1e9)
            yield AudioChunk(piece.samples, piece.sample_rate_hz, piece.start_sample, deadline_ns, piece.gap_samples)

    def close(self) -> None:
        """Close the source."""
        self._source.close()

    def _pieces(self) -> Iterator[AudioChunk]:
        for chunk in self._source:
            yield from cut(chunk, max(1, round(PIECE_S * chunk.sample_rate_hz)))


def cut(chunk: AudioChunk, most: int) -> Iterator[AudioChunk]:
    """Cut a chunk into pieces of at most ``most`` samples; a gap stays before the first."""
    for offset in range(0, len(chunk.samples), most):
        yield AudioChunk(
            chunk.samples[offset : offset + most],
            chunk.sample_rate_hz,
            chunk.start_sample + offset,
            chunk.captured_ns,
            chunk.gap_samples if offset == 0 else 0,
        )
