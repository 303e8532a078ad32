"""What a session has sent and what is not settled yet: enough to say it all again to another worker. Pure.

Audio is kept as the client wrote it, from the last settled position on, with the places at which a flush was asked.
Once a worker has answered a flush, or the audio before it is settled, the flush is forgotten. Before it is kept what
the worker says that another one should hear first (the lead-in).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from edge_asr.requests import FrontMark, LeadIn, Resume, SessionOptions

JOINED_BYTES = 4 << 10
"""Smaller pieces are kept in one: each costs memory of its own, and a message when it is said again."""


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
        self._pieces: deque[bytes | bytearray] = deque()
        self._start = 0  # position of their first byte
        self._lead_in: LeadIn | None = None
        self._heard_before = b""  # the audio of the lead-in
        self._heard_until = 0  # position of its end
        self._end = 0
        self._flushes: deque[int] = deque()
        self._answered = 0
        self._position_s = 0.0
        self._segment = 0
        self._dropped_samples = 0
        self._front: FrontMark | None = None

    @property
    def start_bytes(self) -> int:
        """Position of the first byte that is said again, as if nothing lay between the lead-in and the rest."""
        return self._start - len(self._heard_before)

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
        """Audio that is not settled."""
        return self._end - max(self._start, min(self._end, self._byte_at(self._position_s)))

    def add(self, piece: bytes) -> None:
        """Audio that was sent."""
        self._end += len(piece)
        newest = self._pieces[-1] if self._pieces else b""
        if isinstance(newest, bytearray) and len(newest) + len(piece) <= JOINED_BYTES:
            newest += piece
        else:
            self._pieces.append(bytearray(piece) if len(piece) < JOINED_BYTES else piece)

    def flush(self) -> None:
        """A flush was asked for after everything so far; asking again at the same place asks for nothing more."""
        if not self._flushes or self._flushes[-1] != self._end:
            self._flushes.append(self._end)

    def settle(
        self,
        position_s: float,
        segment: int,
        dropped_samples: int,
        flushes: int = 0,
        lead_in: LeadIn | None = None,
        front: FrontMark | None = None,
    ) -> None:
        """Audio before the position is done with; positions that go back are ignored.

        Args:
            position_s: Seconds since the session began.
            segment: Number of the next final.
            dropped_samples: Lost so far.
            flushes: Flushes that the current worker has answered.
            lead_in: What another worker is to hear first.
            front: What the robust front went by where that begins.
        """
        while self._flushes and self._answered < flushes:
            self._flushes.popleft()
            self._answered += 1
        if position_s < self._position_s:
            return
        self._position_s, self._segment, self._dropped_samples = position_s, segment, dropped_samples
        self.seen_revisions, self._front = 0, front
        while self._flushes and self._flushes[0] < self._byte_at(position_s):
            self._flushes.popleft()
            self._answered += 1
        if lead_in is None:
            self.forget_lead_in()
        elif self.recording is None:
            self._keep_lead_in(lead_in)
        else:
            has_hole = lead_in.end_s < lead_in.mark.position_s
            self._lead_in = None if has_hole else lead_in

    def forget_lead_in(self) -> None:
        """The next worker goes on without one; what its front is to go by is up to the lead-in old then, and near."""
        self._lead_in, self._heard_before = None, b""
        self._drop_before(self._byte_at(self._position_s))

    def resume(self, *, is_suspect: bool) -> Resume:
        """Where another worker goes on; it counts the flushes it answers anew."""
        self._answered = 0
        is_aligned = self.recording is not None or self._lead_in is not None
        return Resume(
            position_s=self._position_s if is_aligned else self._seconds(self._start),
            segment=self._segment,
            revision=self.seen_revisions,
            dropped_samples=self._dropped_samples,
            replayed_s=self._seconds(self._end - self.start_bytes),
            is_suspect=is_suspect,
            lead_in=self._lead_in,
            front=self._front,
        )

    def pieces(self) -> Iterator[bytes | None]:
        """What is kept, in order; ``None`` where a flush was asked for."""
        if self._heard_before:
            yield self._heard_before
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

    def _keep_lead_in(self, lead_in: LeadIn) -> None:
        """Cut its audio out of what is kept, and drop what lies before its mark."""
        start, end = self._byte_at(lead_in.start_s), self._byte_at(lead_in.end_s)
        if end != self._heard_until:
            self._heard_before, self._heard_until = self._kept_between(start, end), end
        if not self._heard_before:
            self.forget_lead_in()
            return
        start_s = self._seconds(end - len(self._heard_before))
        self._lead_in = msgspec.structs.replace(lead_in, start_s=start_s, end_s=self._seconds(end))
        self._drop_before(self._byte_at(lead_in.mark.position_s))

    def _kept_between(self, start: int, end: int) -> bytes:
        """As much as is kept of it."""
        first, pieces = self._start, [*self._pieces]
        if self._heard_before and self._heard_until == first:
            first -= len(self._heard_before)
            pieces.insert(0, self._heard_before)
        position, parts = first, []
        for piece in pieces:
            parts.append(piece[max(0, start - position) : max(0, end - position)])
            position += len(piece)
            if position >= end:
                break
        return b"".join(parts)

    def _byte_at(self, position_s: float) -> int:
        return round(position_s * self._rate_hz) * self._frame_bytes

    def _seconds(self, position: int) -> float:
        return position / self._frame_bytes / self._rate_hz

    def _drop_before(self, position: int) -> None:
        position = min(position, self._end)
        while self._pieces and self._start + len(self._pieces[0]) <= position:
            self._start += len(self._pieces.popleft())
        if self._pieces and position > self._start:
            self._pieces[0] = self._pieces[0][position - self._start :]
            self._start = position
