"""From the sound card's thread to ours: a bounded queue, whose writer only copies and never waits."""

from __future__ import annotations

from dataclasses import dataclass
from queue import Empty, SimpleQueue


@dataclass(frozen=True, slots=True)
class Block:
    """What the sound card delivered at a time."""

    data: bytes
    """Interleaved samples, as the card writes them."""
    frames: int
    captured_ns: int
    """Monotonic time at which it was delivered, nanoseconds."""
    has_overrun: bool
    """Whether the card says that it lost audio just before."""
    dropped_frames: int
    """Frames lost just before because nobody took them from here."""


class CaptureRing:
    """Holds at most ``capacity_frames``; what comes beyond them is dropped and counted.

    One thread writes, one reads. Neither takes a lock: each counts for itself, and the queue is C.
    """

    def __init__(self, capacity_frames: int) -> None:
        self._capacity_frames = capacity_frames
        self._blocks: SimpleQueue[Block] = SimpleQueue()
        self._frames_written = 0
        self._frames_read = 0
        self._dropped_frames = 0

    def write(self, data: bytes, frames: int, captured_ns: int, *, has_overrun: bool) -> None:
        """Called by the sound card's thread, which must not wait for anything."""
        if self._frames_written - self._frames_read + frames > self._capacity_frames:
            self._dropped_frames += frames
            return
        self._blocks.put(Block(data, frames, captured_ns, has_overrun, self._dropped_frames))
        self._frames_written += frames
        self._dropped_frames = 0

    def read(self, timeout_s: float) -> Block | None:
        """The oldest block; ``None`` when none came in time."""
        try:
            block = self._blocks.get(timeout=timeout_s)
        except Empty:
            return None
        self._frames_read += block.frames
        return block
