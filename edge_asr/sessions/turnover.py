"""When a client that is refused should come back: by how fast sessions come to their end; pure."""

from __future__ import annotations

from collections import deque

LEAST_HINT_S, MOST_HINT_S = 1.0, 60.0

UNKNOWN_S = 5.0
"""The hint when no session ended lately; also how long a refusal counts as waiting."""

LATELY_S = 60.0


class Turnover:
    """Remembers the last minute."""

    def __init__(self) -> None:
        self._ended: deque[tuple[int, float]] = deque()
        """When a session ended, and how long it was."""
        self._refused_ns: deque[int] = deque()

    def ended(self, now_ns: int, duration_s: float) -> None:
        """A session is over."""
        self._ended.append((now_ns, duration_s))
        self._forget(now_ns)

    def refused(self, now_ns: int, sessions: int) -> float:
        """A client is refused; in how many seconds there will be room for it, after those refused just before.

        Sessions end as often as they did in the last minute; or, where there are many that have only begun, as often
        as sessions of that length must.

        Args:
            now_ns: Monotonic time.
            sessions: Those that are open.
        """
        self._forget(now_ns)
        waiting = 1 + sum(now_ns - refused_ns < UNKNOWN_S * 1e9 for refused_ns in self._refused_ns)
        self._refused_ns.append(now_ns)
        if not self._ended:
            return UNKNOWN_S
        mean_s = sum(duration_s for _, duration_s in self._ended) / len(self._ended)
        between_s = min(LATELY_S / len(self._ended), mean_s / max(1, sessions))
        return min(MOST_HINT_S, max(LEAST_HINT_S, waiting * between_s))

    def _forget(self, now_ns: int) -> None:
        while self._ended and now_ns - self._ended[0][0] > LATELY_S * 1e9:
            self._ended.popleft()
        while self._refused_ns and now_ns - self._refused_ns[0] > LATELY_S * 1e9:
            self._refused_ns.popleft()
