"""A worker's place in the pool: which model it serves, what it has been through, and who takes over from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from edge_asr.workers.recycling import Wear
from edge_asr.workers.served_model import ServedModel
from edge_asr.workers.session import SessionContext
from edge_asr.workers.supervisor import Supervisor
from edge_asr.workers.vitals import Vitals

Role = Literal["active", "twin", "other", "trial", "leaving"]
"""``active``: of sessions that name no model; ``twin``: of those too, on cores of its own; ``other``: of those that
name its model; ``trial``: of nobody yet; ``leaving``: of those alone that it still has."""

WARM_AFTER_S = 60.0
"""Memory that a worker takes later than this counts as growth."""


@dataclass(slots=True, eq=False)
class Place:
    """One worker, and whatever process fills its place at the moment."""

    model: ServedModel
    worker: Supervisor
    context: SessionContext
    """What its sessions share."""
    vitals: Vitals
    slot: int
    """Which of the core sets it has."""
    role: Role = "trial"
    successor: Place | None = None
    """Where its sessions are to go."""
    is_handing_over: bool = False
    """Whether they go as soon as they are between two segments."""
    opened: int = 0
    """Sessions so far."""
    used_ns: int = 0
    """When its last session began or ended."""
    _pid: int = field(default=0, init=False)
    _since_ns: int = field(default=0, init=False)
    _warm_bytes: int = field(default=0, init=False)

    @property
    def takes_sessions(self) -> bool:
        """Whether new sessions of its model come here."""
        return self.role in ("active", "twin", "other")

    def wear(self, now_ns: int) -> Wear:
        """What the process that serves now has been through; asked from time to time, since it notes what it sees."""
        if self.worker.pid != self._pid:
            self._pid, self._since_ns, self._warm_bytes, self.opened = self.worker.pid, now_ns, 0, 0
        age_s = (now_ns - self._since_ns) / 1e9
        resident_bytes = self.worker.resident_bytes()
        if not self._warm_bytes and age_s >= WARM_AFTER_S:
            self._warm_bytes = resident_bytes
        return Wear(age_s, self.opened, resident_bytes - self._warm_bytes if self._warm_bytes else 0)
