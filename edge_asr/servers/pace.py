"""Whether audio is of the rate its client says, by how fast it comes. Pure; the caller brings the clock.

A microphone sends a second of sound in a second. When it sends, by the rate it declared, three seconds of sound in each
second and does so evenly, its samples are at 48 kHz and not at 16, and what is recognised is nonsense that looks like
words. A file may come at any pace, but not evenly at exactly such a ratio; and one that has to wait for the recogniser
is no microphone.
"""

from __future__ import annotations

from edge_asr.events import Notice
from edge_asr.requests import SessionOptions

WINDOWS = 10
"""Seconds to look at before there is a verdict."""

EVENNESS = 0.25
"""By which the audio of one second may differ from the average: a microphone's pieces do not end with the second."""

CLOSENESS = 0.015
"""By which the pace may differ from a ratio of two rates."""

RATES_HZ = (8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)


class PaceWatch:
    """The first seconds of one session's audio."""

    def __init__(self, options: SessionOptions) -> None:
        """Watch audio that is declared to be as the options say."""
        self.sample_rate_hz = options.sample_rate_hz
        self._bytes_per_second = options.bytes_per_second
        self._window_start_s: float | None = None
        self._bytes = 0
        self._paces: list[float] = []
        self._is_decided = False

    def disturb(self) -> None:
        """The sender had to wait: its pace says nothing."""
        self._is_decided = True

    def take(self, size: int, now_s: float) -> int | None:
        """Audio came; the rate it seems to have, said once, if that is not the declared one.

        Args:
            size: Of the piece, bytes.
            now_s: Monotonic time, seconds.
        """
        if self._is_decided:
            return None
        if self._window_start_s is None:
            self._window_start_s = now_s  # what came first may have waited for us
            return None
        while now_s >= self._window_start_s + 1.0:
            self._paces.append(self._bytes / self._bytes_per_second)
            self._bytes = 0
            self._window_start_s += 1.0
        self._bytes += size
        if len(self._paces) < WINDOWS:
            return None
        self._is_decided = True
        return self._verdict()

    def _verdict(self) -> int | None:
        pace = sum(self._paces) / len(self._paces)
        if any(abs(found - pace) > EVENNESS * pace for found in self._paces):
            return None
        likely = min(RATES_HZ, key=lambda rate: abs(rate - pace * self.sample_rate_hz))
        is_close = abs(likely - pace * self.sample_rate_hz) <= CLOSENESS * likely
        return likely if is_close and likely != self.sample_rate_hz else None


def rate_notice(session_id: str, declared_hz: int, likely_hz: int) -> Notice:
    """The suspicion, for the client."""
    return Notice(
        session_id,
        "rate_suspicious",
        f"the audio is declared to be at {declared_hz} Hz and comes as fast as audio at {likely_hz} Hz would: "
        "if it is live, its rate or its number of channels is wrong",
    )
