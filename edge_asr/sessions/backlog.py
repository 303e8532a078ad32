"""Audio that has arrived and is not decoded yet: bounded for live sessions by dropping the oldest."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from edge_asr.audio import Float32Array


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A stretch of samples without a hole in it."""

    samples: Float32Array
    """Mono PCM, shape (n,)."""
    arrived_ns: int
    """When the last of it arrived."""
    gap_samples: int
    """Samples lost just before."""


class Backlog:
    """A queue of pieces."""

    def __init__(self) -> None:
        self._pieces: deque[Piece] = deque()
        self._samples = 0

    def __len__(self) -> int:
        """Samples waiting."""
        return self._samples

    @property
    def oldest_arrival_ns(self) -> int | None:
        """When the oldest piece arrived; ``None`` when nothing waits."""
        return self._pieces[0].arrived_ns if self._pieces else None

    def push(self, samples: Float32Array, arrived_ns: int, gap_samples: int = 0) -> None:
        """Append samples, shape (n,)."""
        if len(samples) or gap_samples:
            self._pieces.append(Piece(samples, arrived_ns, gap_samples))
            self._samples += len(samples)

    def pop(self, most: int) -> Piece:
        """The oldest samples, at most ``most`` and up to the next gap; the queue must not be empty."""
        first = self._pop_of_first(most)
        parts, count, arrived_ns = [first.samples], len(first.samples), first.arrived_ns
        while self._pieces and count < most and not self._pieces[0].gap_samples:
            more = self._pop_of_first(most - count)
            parts.append(more.samples)
            count += len(more.samples)
            arrived_ns = more.arrived_ns
        return Piece(parts[0] if len(parts) == 1 else np.concatenate(parts), arrived_ns, first.gap_samples)

    def drop_oldest(self, keep: int) -> int:
        """Make room so that at most ``keep`` samples wait: the oldest become a gap before what stays.

        Returns:
            Samples dropped now.
        """
        dropped = gap = 0
        arrived_ns = 0
        while self._samples > keep:
            piece = self._pop_of_first(self._samples - keep)
            dropped += len(piece.samples)
            gap += piece.gap_samples
            arrived_ns = piece.arrived_ns
        if dropped:
            self._put_gap_first(dropped + gap, arrived_ns)
        return dropped

    def _pop_of_first(self, most: int) -> Piece:
        """At most ``most`` samples of the oldest piece."""
        piece = self._pieces.popleft()
        if len(piece.samples) > most:
            self._pieces.appendleft(Piece(piece.samples[most:], piece.arrived_ns, 0))
            piece = Piece(piece.samples[:most], piece.arrived_ns, piece.gap_samples)
        self._samples -= len(piece.samples)
        return piece

    def _put_gap_first(self, gap_samples: int, arrived_ns: int) -> None:
        if not self._pieces:
            self._pieces.append(Piece(_NOTHING, arrived_ns, gap_samples))
            return
        first = self._pieces[0]
        self._pieces[0] = Piece(first.samples, first.arrived_ns, first.gap_samples + gap_samples)

    def __bool__(self) -> bool:
        """Whether anything waits, be it a gap."""
        return bool(self._pieces)


_NOTHING: Float32Array = np.zeros(0, np.float32)
