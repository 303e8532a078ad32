"""Whether one more session can be decoded in time, and by which worker; a policy without time, sockets or workers.

A live session is opened where it makes the least load, by what each worker can do. When there is no room anywhere it
gets the lighter model, if there is one, until the load has fallen; otherwise it is refused, with the reason and with
the time after which, by the sessions that ended lately, there will be room for it and for those refused before.

Recordings that nobody waits for yield to live sessions, so they need no room; memory they need all the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from edge_asr.errors import Overloaded
from edge_asr.sessions.heat import COOL, Heat
from edge_asr.sessions.load import YOUNG_S, WorkerLoad
from edge_asr.sessions.turnover import Turnover
from edge_asr.settings import AdmissionSettings


@dataclass(frozen=True, slots=True)
class Candidate:
    """One worker as the pool knows it."""

    load: WorkerLoad
    opened_ns: tuple[int, ...]
    """When each of its live sessions was opened."""
    recordings: int = 0
    """Its sessions that nobody waits for."""
    others_load: float = 0.0
    """What workers of other models on the same cores do, by what they can do; 1 is all that the cores can."""
    is_out_of_memory: bool = False
    """Whether it is at its memory limit: nothing may be opened there."""


class Admission:
    """The policy.

    Args:
        settings: What is allowed.
        max_sessions: Sessions of any kind, ``limits.max_sessions``.
    """

    def __init__(self, settings: AdmissionSettings, max_sessions: int) -> None:
        self.heat: Heat = COOL
        """Set by whoever reads the sensors."""
        self.is_lighter = False
        """Whether new sessions that name no model get the lighter one."""
        self._settings = settings
        self.max_sessions = max_sessions
        self._turnover = Turnover()

    def admit(self, workers: Mapping[str, Candidate], sessions: int, *, is_batch: bool, now_ns: int) -> str:
        """The worker for one more session.

        Args:
            workers: Those that serve its model, by name.
            sessions: Open ones of all workers and kinds.
            is_batch: Whether nobody waits for its text.
            now_ns: Monotonic time.

        Raises:
            Overloaded: There is no room, with the reason and a hint when to come back.
        """
        self.require_slot(sessions, now_ns)
        able = {name: worker for name, worker in workers.items() if not worker.is_out_of_memory}
        if not able:
            raise self._refusal("the recogniser is at its memory limit and is being replaced", sessions, now_ns)
        if is_batch:
            return min(able, key=lambda name: (able[name].recordings, self.load(able[name], now_ns)))
        best = min(able, key=lambda name: (self.load(able[name], now_ns, 1), len(able[name].opened_ns)))
        if self._settings.enabled and not _is_idle(able[best]) and self.load(able[best], now_ns, 1) > 1:
            raise self._refusal(self._why_full(able, now_ns), sessions, now_ns)
        return best

    def require_slot(self, sessions: int, now_ns: int) -> None:
        """Refuse one session more than may be open.

        Raises:
            Overloaded: As many as may be are open.
        """
        if sessions >= self.max_sessions:
            raise self._refusal(f"all {self.max_sessions} sessions are in use", sessions, now_ns)

    def load(self, worker: Candidate, now_ns: int, more: int = 0) -> float:
        """What the worker's sessions and ``more`` new ones need, by what it can do: 1 is full, 0 while unknown."""
        capacity = self.capacity(worker)
        own = self.needed(worker, now_ns, more) / capacity if capacity > 0 else math.inf
        return worker.others_load + own

    def needed(self, worker: Candidate, now_ns: int, more: int = 0) -> float:
        """Streams that talk at a time, at most, in the worker's sessions and ``more`` new ones."""
        young = sum(now_ns - opened_ns < YOUNG_S * 1e9 for opened_ns in worker.opened_ns)
        return worker.load.needed(len(worker.opened_ns) - young, young + more)

    def capacity(self, worker: Candidate) -> float:
        """Streams that one worker can decode in time at the machine's present heat; infinite while unknown."""
        return self.heat.share * worker.load.capacity

    def choose_model(self, workers: Mapping[str, Candidate], now_ns: int) -> str:
        """The model of a live session that names none: empty for the active one, else the lighter one's name.

        Args:
            workers: Those of the active model.
            now_ns: Monotonic time.
        """
        if not self._settings.lighter_model:
            return ""
        settings, found = self._settings, list(workers.values())
        if self.is_lighter:
            self.is_lighter = min(self.load(worker, now_ns) for worker in found) > settings.lighter_until
        else:
            least = min(self.load(worker, now_ns, 1) for worker in found)
            self.is_lighter = least > settings.lighter_above and not any(map(_is_idle, found))
        return self._settings.lighter_model if self.is_lighter else ""

    def session_ended(self, now_ns: int, duration_s: float) -> None:
        """There is room for another one."""
        self._turnover.ended(now_ns, duration_s)

    def _refusal(self, reason: str, sessions: int, now_ns: int) -> Overloaded:
        return Overloaded(reason, self._turnover.refused(now_ns, sessions))

    def _why_full(self, workers: Mapping[str, Candidate], now_ns: int) -> str:
        capacity = sum(self.capacity(worker) * max(0.0, 1 - worker.others_load) for worker in workers.values())
        in_use = sum(self.needed(worker, now_ns) for worker in workers.values())
        sessions = sum(len(worker.opened_ns) for worker in workers.values())
        cause = f" ({self.heat.reason})" if self.heat.reason else ""
        return (
            f"this machine keeps up with {capacity:.1f} streams that talk{cause}, and the {sessions} that are open "
            f"need {in_use:.1f}"
        )


def _is_idle(worker: Candidate) -> bool:
    """A machine that is too slow for one stream still serves one: late, which is more than not at all."""
    return not worker.opened_ns and not worker.others_load
