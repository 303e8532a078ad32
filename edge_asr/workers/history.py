"""What a session has sent and what is not settled yet: enough to say it all again to another worker. Pure.

Audio is kept as the client wrote it, from the last settled position on, with the places at which a flush was asked.
Once a worker has answered a flush, or the audio before it is settled, the flush is forgotten.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edge_asr.requests import Resume, SessionOptions


@dataclass(frozen=True, slots=True)
class Recording:
    """A file that the worker reads by itself."""

    path: Path
    max_duration_s: float


class History:
    """The unsettled part of one session.

    Args:
        options: How its audio is written.
    """

    def __init__(self, options: SessionOptions) -> None:
        self.recording: Recording | None = None
        self.is_finished = False
        self.seen_revisions = 0
        """Partials of the open segment that the client has seen."""
        self._frame_bytes = options.frame_bytes
        self._rate_hz = options.sample_rate_hz
        self._pieces: deque[bytes] = deque()
        self._start = 0  # position of the first kept byte
        self._end = 0
        self._flushes: deque[int] = deque()
        self._answered = 0
        self._position_s = 0.0
        self._segment = 0
        self._dropped_samples = 0

    @property
    def start_bytes(self) -> int:
        """Position of the first byte that is kept, since the session began."""
        return self._start

    @property
    def end_bytes(self) -> int:
        """Bytes sent since the session began."""
        return self._end

    @property
    def position_s(self) -> float:
        """Settled so far, seconds."""
        return self._position_s

    @property
    def kept_bytes(self) -> int:
        """What is kept."""
        return self._end - self._start

    def add(self, piece: bytes) -> None:
        """Audio that was sent."""
        self._pieces.append(piece)
        self._end += len(piece)

    def flush(self) -> None:
        """A flush was asked for after everything so far; asking again at the same place asks for nothing more."""
        if not self._flushes or self._flushes[-1] != self._end:
            self._flushes.append(self._end)

    def settle(self, position_s: float, segment: int, dropped_samples: int, flushes: int = 0) -> None:
        """Audio before the position is done with; positions that go back are ignored.

        Args:
            position_s: Seconds since the session began.
            segment: Number of the next final.
            dropped_samples: Lost so far.
            flushes: Flushes that the current worker has answered.
        """
        while self._flushes and self._answered < flushes:
            self._flushes.popleft()
            self._answered += 1
        if position_s < self._position_s:
            return
        self._position_s, self._segment, self._dropped_samples = position_s, segment, dropped_samples
        self.seen_revisions = 0
        self._drop_before(min(self._end, round(position_s * self._rate_hz) * self._frame_bytes))

    def resume(self, *, is_suspect: bool) -> Resume:
        """Where another worker goes on; it counts the flushes it answers anew."""
        self._answered = 0
        return Resume(
            position_s=self._start_s if self.recording is None else self._position_s,
            segment=self._segment,
            revision=self.seen_revisions,
            dropped_samples=self._dropped_samples,
            replayed_s=self.kept_bytes / self._frame_bytes / self._rate_hz,
            is_suspect=is_suspect,
        )

    def pieces(self) -> Iterator[bytes | None]:
        """What is kept, in order; ``None`` where a flush was asked for."""
        position, flushes = self._start, deque(self._flushes)
        for piece in self._pieces:
            rest = memoryview(piece)
            while flushes and flushes[0] <= position + len(rest):
                cut = flushes.popleft() - position
                if cut > 0:
                    yield bytes(rest[:cut])
                    rest, position = rest[cut:], position + cut
                yield None
            if rest:
                yield bytes(rest)
                position += len(rest)
        for _ in flushes:
            yield None

    @property
    def _start_s(self) -> float:
        """Where the kept audio begins: never before the settled position by more than a frame."""
        return self._start / self._frame_bytes / self._rate_hz

    def _drop_before(self, position: int) -> None:
        while self._flushes and self._flushes[0] < position:
            self._flushes.popleft()
            self._answered += 1
        while self._pieces and self._start + len(self._pieces[0]) <= position:
            self._start += len(self._pieces.popleft())
        if self._pieces and position > self._start:
            self._pieces[0] = self._pieces[0][position - self._start :]
            self._start = position
