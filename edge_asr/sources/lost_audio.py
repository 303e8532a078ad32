"""How much audio a sound card lost: it says that it lost some, not how much, and some cards do not even say that.

Frames are counted against the monotonic clock. How late a block comes varies with buffers and with the load of the
machine, but the least lateness of a while is steady, and audio that is lost raises it for good.
"""

from __future__ import annotations

from collections import deque

WINDOW_S = 5.0
"""Blocks looked back at: short enough that the card's clock, which is never quite ours, does not count."""
SETTLED_S = 1.0
"""So long every block must have been late before a loss that nobody announced is believed: what a sound server held
back while this process slept comes in a burst, and is not lost."""
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
        self._on_time: deque[tuple[float, float]] = deque()
        """Time and lateness, seconds, of each block of the window that was not late."""
        self._late_since_s: float | None = None
        self._least_late_s = 0.0
        """Of the blocks since then."""

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
        return dropped_frames + lost

    def _lost_s(self, now_s: float, late_s: float, *, has_overrun: bool) -> float:
        usual_s = min((seen for _, seen in self._on_time), default=late_s)
        if has_overrun:
            return self._believe(now_s, max(0.0, late_s - usual_s), late_s)
        if late_s - usual_s <= UNANNOUNCED_S:
            self._late_since_s = None
            self._note(now_s, late_s)
            return 0.0
        if self._late_since_s is None:
            self._late_since_s, self._least_late_s = now_s, late_s
        self._least_late_s = min(self._least_late_s, late_s)
        if now_s - self._late_since_s < SETTLED_S:
            return 0.0
        return self._believe(now_s, self._least_late_s - usual_s, late_s)

    def _believe(self, now_s: float, lost_s: float, late_s: float) -> float:
        """What was seen before a loss says nothing about what comes after it."""
        self._on_time.clear()
        self._late_since_s = None
        self._note(now_s, late_s - lost_s)
        return lost_s

    def _note(self, now_s: float, late_s: float) -> None:
        self._on_time.append((now_s, late_s))
        while self._on_time[0][0] < now_s - WINDOW_S:
            self._on_time.popleft()
