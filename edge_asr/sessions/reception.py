"""A session's audio on its way to the engine: what waits, and where the stream is to be closed. No I/O, no clock.

Positions are samples since the session began, at the engine's rate, lost audio included.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from edge_asr.audio import AudioChunk
from edge_asr.sessions.backlog import Backlog, Piece

RESAMPLING_SLACK_S = 0.01
"""Audio that was gathered at the client's rate comes here a few samples shorter, and is looked at all the same."""


class Reception:
    """Of one session.

    Args:
        start: Position of its first sample.
        sample_rate_hz: Of the audio.
        longest_s: What may wait for the engine.
        replayed_s: What more may wait while audio that another worker had heard is being said again.
    """

    def __init__(self, start: int, sample_rate_hz: int, longest_s: float, replayed_s: float = 0.0) -> None:
        self.received = start
        """End of what has come."""
        self.is_ending = False
        """Whether there will be no more; set by the owner."""
        self._rate_hz = sample_rate_hz
        self._longest_s = longest_s
        self._live_limit_s = longest_s + replayed_s
        self._backlog = Backlog()
        self._flushes: deque[int] = deque()
        """Positions at which the open segment is to be closed."""

    # What comes.

    def take(self, chunk: AudioChunk, arrived_ns: int) -> None:
        """Keep audio, and the hole before it."""
        self.received += chunk.gap_samples + len(chunk.samples)
        self._backlog.push(chunk.samples, arrived_ns, chunk.gap_samples)

    def drop_what_is_too_old(self) -> int:
        """Keep no more than may wait; how many samples were dropped."""
        if self.waiting_s <= self._longest_s:
            self._live_limit_s = self._longest_s  # it has caught up
        return self._backlog.drop_oldest(round(self._live_limit_s * self._rate_hz))

    def flush(self) -> None:
        """The open segment is to be closed behind everything that has come."""
        if not self._flushes or self._flushes[-1] != self.received:
            self._flushes.append(self.received)

    # What is known of it.

    @property
    def waiting(self) -> int:
        """Samples that have not gone on."""
        return len(self._backlog)

    @property
    def waiting_s(self) -> float:
        """Likewise, seconds."""
        return len(self._backlog) / self._rate_hz

    @property
    def position(self) -> int:
        """End of what has gone on."""
        return self.received - len(self._backlog)

    @property
    def has_flush(self) -> bool:
        """Whether a segment is to be closed, now or when more has gone on."""
        return bool(self._flushes)

    @property
    def due(self) -> Literal["", "flush", "end"]:
        """Whether everything has gone on that the next closing of the stream is to hold."""
        if self._flushes:
            return "flush" if self.position >= self._flushes[0] else ""
        return "end" if self.is_ending and not self._backlog else ""

    def has_enough(self, least_s: float) -> bool:
        """Whether so much waits that it is worth looking at; a gap is passed on at once."""
        if self.is_ending or self._flushes or not len(self._backlog):
            return bool(self._backlog)
        return self.waiting_s + RESAMPLING_SLACK_S >= least_s

    # What goes on.

    def pass_on(self, most: int) -> Piece:
        """The oldest audio, so many samples at most: what was said after a flush belongs to the segment after it."""
        return self._backlog.pop(min(most, self._flushes[0] - self.position) if self._flushes else most)

    def answer_flush(self) -> None:
        """The oldest flush is done with."""
        self._flushes.popleft()
