"""How long to wait before a worker is started again; pure."""

from __future__ import annotations

from edge_asr.settings import WorkerSettings

STABLE_AFTER_S = 60.0
"""A worker that ran so long did not die of what killed the one before."""

_LEAST_DOUBLED_S = 0.1


class Backoff:
    """Doubles from ``restart_delay_s`` to ``max_restart_delay_s``; starts over after a long life."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._first_s = min(settings.restart_delay_s, settings.max_restart_delay_s)
        self._most_s = settings.max_restart_delay_s
        self._next_s = self._first_s

    def after_death(self, lifetime_s: float) -> float:
        """Delay after a worker that served for ``lifetime_s``, seconds."""
        if lifetime_s >= STABLE_AFTER_S:
            self._next_s = self._first_s
        delay_s = self._next_s
        self._next_s = min(max(2 * delay_s, _LEAST_DOUBLED_S), self._most_s)
        return delay_s

    def after_failed_load(self) -> float:
        """Delay after a worker that could not load its model: the longest, since the model will not change soon."""
        return self._most_s
