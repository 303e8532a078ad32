"""How long to wait before a worker is started again; pure.

A single death should cost its sessions as little as possible, a crash loop should not cost the board its processor: the
first restarts within a minute come soon, each further one after twice the delay of the one before.
"""

from __future__ import annotations

from edge_asr.settings import WorkerSettings

SOON = 6
"""Restarts without doubling..."""
WINDOW_S = 60.0
"""...within so long."""

_LEAST_DOUBLED_S = 0.1


class Backoff:
    """Stays at ``restart_delay_s`` for some restarts, then doubles up to ``max_restart_delay_s``."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._first_s = min(settings.restart_delay_s, settings.max_restart_delay_s)
        self._most_s = settings.max_restart_delay_s
        self._ages_s: list[float] = []
        """Of the deaths within the window, the newest last."""

    def after_death(self, lifetime_s: float) -> float:
        """Delay after a worker that served for ``lifetime_s``, seconds."""
        self._grow_older(lifetime_s)
        doublings = len(self._ages_s) - SOON
        self._ages_s.append(0.0)
        delay_s = self._first_s
        if doublings >= 0:
            delay_s = min(max(self._first_s, _LEAST_DOUBLED_S) * 2.0 ** (doublings + 1), self._most_s)
        self._grow_older(delay_s)
        return delay_s

    def after_failed_load(self) -> float:
        """Delay after a worker that could not load its model: the longest, since the model will not change soon."""
        return self._most_s

    def _grow_older(self, seconds: float) -> None:
        self._ages_s = [age_s + seconds for age_s in self._ages_s if age_s + seconds < WINDOW_S]
