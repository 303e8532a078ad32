"""Whether the workers really get on, judged from outside the parts that look after them. Pure: no clock, no I/O.

A worker that hangs is killed and replaced by its supervisor. Here is what sees that this did not happen: a process that
even a kill does not end (it waits for a broken disk), a supervisor that failed itself. Then nothing inside the daemon
can help, and the service manager has to start it anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from edge_asr.settings import WorkerSettings
from edge_asr.workers.base import WorkerStatus

_LOADING = ("starting", "restarting", "waking", "failed")
"""In these states a process is being loaded, or will be tried; any other one may last for ever."""

GRACE_S = 15.0
"""For ending a worker beyond its time-outs; after that the supervisor has not done it."""


class ProgressWatch:
    """Notes when each worker last moved.

    Args:
        settings: The time-outs after which the supervisor itself acts.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self._decoding_patience_s = max(settings.hang_timeout_s, settings.stall_timeout_s) + GRACE_S
        self._loading_patience_s = settings.load_timeout_s + settings.max_restart_delay_s + GRACE_S
        self._moved: dict[str, tuple[object, float]] = {}

    def stuck(self, workers: Sequence[WorkerStatus], now_s: float) -> str:
        """Why the daemon cannot go on by itself, as a clause; empty while it can.

        Args:
            workers: As the pool tells them now.
            now_s: Monotonic seconds.
        """
        self._moved = {worker.name: self._last_move(worker, now_s) for worker in workers}
        return next(filter(None, (self._complaint(worker, now_s) for worker in workers)), "")

    def _last_move(self, worker: WorkerStatus, now_s: float) -> tuple[object, float]:
        mark = (worker.state, worker.pid, worker.restarts, worker.stats)
        before = self._moved.get(worker.name)
        is_at_rest = worker.state == "ready" and not worker.sessions
        return before if before is not None and before[0] == mark and not is_at_rest else (mark, now_s)

    def _complaint(self, worker: WorkerStatus, now_s: float) -> str:
        still_s = now_s - self._moved[worker.name][1]
        if worker.state == "ready" and still_s > self._decoding_patience_s:
            return f"worker {worker.name} has sessions and reported nothing for {still_s:.0f} s, and was not replaced"
        if worker.state in _LOADING and still_s > self._loading_patience_s:
            return f"worker {worker.name} is {worker.state} for {still_s:.0f} s, and no new one was tried"
        return ""
