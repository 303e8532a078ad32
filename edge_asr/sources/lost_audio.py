"""How much audio a sound card lost: it says that it lost some, not how much, and some cards do not even say that.

Frames are counted against the monotonic clock. How late a block comes varies with buffers and with the load of the
machine, but the least lateness of a while is steady, and audio that is lost raises it for good.
"""

from __future__ import annotations

from collections import deque

WINDOW_S = 5.0
"""Blocks looked back at: short enough that the card's clock, which is never quite ours, does not count."""
SETTLED_S = 1.0
"""So long every block must have been late before a loss that nobody announced is believed."""
UNANNOUNCED_S = 0.25
"""Lateness that only a loss explains when it stays."""


class LostAudio:
    """Fed with every block; says how many frames are missing before it.

    Args:
        rate_hz: Frames per second.
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._started_ns: int | None = None
        self._counted = 0
        self._seen: deque[tuple[float, float]] = deque()
        """Time and lateness of each block of the window, seconds."""

    def before(self, captured_ns: int, frames: int, *, has_overrun: bool, dropped_frames: int = 0) -> int:
        """Frames lost just before a block.

        Args:
            captured_ns: When the block was delivered, nanoseconds.
            frames: Its length.
            has_overrun: Whether the card says that it lost audio.
            dropped_frames: Frames that are known to be missing before it.
        """
        if self._started_ns is None:
            self._started_ns = captured_ns
            return dropped_frames
        self._counted += frames + dropped_frames
        now_s = (captured_ns - self._started_ns) / 1e9
        late_s = now_s - self._counted / self._rate_hz
        lost = round(self._lost_s(now_s, late_s, has_overrun=has_overrun) * self._rate_hz)
        self._counted += lost
        self._seen.append((now_s, late_s - lost / self._rate_hz))
        return dropped_frames + lost

    def _lost_s(self, now_s: float, late_s: float, *, has_overrun: bool) -> float:
        while self._seen and self._seen[0][0] < now_s - WINDOW_S:
            self._seen.popleft()
        if has_overrun:
            return self._forget(max(0.0, late_s - self._least(self._seen, late_s)))
        before = [seen for seen in self._seen if seen[0] < now_s - SETTLED_S]
        lately = [seen for seen in self._seen if seen[0] >= now_s - SETTLED_S]
        if not before or not lately:
            return 0.0
        lost_s = min(late_s, self._least(lately, late_s)) - self._least(before, late_s)
        return self._forget(lost_s) if lost_s > UNANNOUNCED_S else 0.0

    def _forget(self, lost_s: float) -> float:
        """What was seen before a loss says nothing about what comes after it."""
        self._seen.clear()
        return lost_s

    @staticmethod
    def _least(seen: deque[tuple[float, float]] | list[tuple[float, float]], otherwise: float) -> float:
        return min((late_s for _, late_s in seen), default=otherwise)
