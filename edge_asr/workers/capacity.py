"""Which worker takes a new session, or why none does: the policy of ``sessions/admission``, asked about real workers.

Looks at the machine from time to time: heat, memory, and where the workers' threads run.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from edge_asr.clock import Clock
from edge_asr.errors import NotReady
from edge_asr.metrics.instruments import Instruments
from edge_asr.resources.npu import read_npu_loads
from edge_asr.sessions.admission import Admission, Candidate
from edge_asr.settings import Settings
from edge_asr.workers.heat_sensor import HeatSensor
from edge_asr.workers.messages import Stats
from edge_asr.workers.place import Place
from edge_asr.workers.session import PoolSession
from edge_asr.workers.supervisor import SERVING_STATES
from edge_asr.workers.vitals import Vitals

_logger = logging.getLogger(__name__)


class Capacity:
    """Of all places of a pool.

    Args:
        settings: Groups ``admission`` and ``limits`` count.
        cpus: Cores of the workers, whose clock is watched.
        places: All of them.
        sessions_of: The sessions that one of them has.
        instruments: Where it is counted.
        clock: What times are read from.
        root: Where ``proc`` and ``sys`` are.
    """

    def __init__(
        self,
        settings: Settings,
        cpus: Collection[int],
        places: Callable[[], Iterable[Place]],
        sessions_of: Callable[[Place], Sequence[PoolSession]],
        instruments: Instruments,
        clock: Clock,
        root: Path = Path("/"),
    ) -> None:
        self._policy = Admission(settings.admission, settings.limits.max_sessions)
        self._sensor = HeatSensor(cpus, settings.admission.temperature_limit_c, root)
        self._places = places
        self._sessions_of = sessions_of
        self._instruments = instruments
        self._clock = clock
        self._root = root

    @property
    def max_sessions(self) -> int:
        """Sessions of all kinds that may be open at once."""
        return self._policy.max_sessions

    def limit_sessions(self, max_sessions: int) -> None:
        """So many may be open at once; those that are beyond it stay."""
        self._policy.max_sessions = max_sessions
        self._instruments.limit_sessions(max_sessions)

    # New sessions.

    def require_slot(self, sessions: int) -> None:
        """Refuse one session more than may be open.

        Args:
            sessions: Those that are.

        Raises:
            Overloaded: As many as may be are open.
        """
        self._policy.require_slot(sessions, self._clock.now_ns())

    def choose(self, places: Sequence[Place], sessions: int, *, is_batch: bool) -> Place:
        """The place for one more session.

        Args:
            places: Those that serve its model.
            sessions: Open ones of all places.
            is_batch: Whether nobody waits for its text.

        Raises:
            NotReady: No worker of the model can take sessions.
            Overloaded: There is no room.
        """
        able = _able(places)
        if not able:
            raise NotReady(places[0].worker.reason)
        now_ns = self._clock.now_ns()
        candidates = {place.worker.name: self._candidate(place) for place in able}
        name = self._policy.admit(candidates, sessions, is_batch=is_batch, now_ns=now_ns)
        return next(place for place in able if place.worker.name == name)

    def lighter_model(self, places: Sequence[Place]) -> str:
        """The model of a live session that names none, when the active one has no room for it; else empty.

        Args:
            places: Those of the active model.
        """
        was_lighter = self._policy.is_lighter
        candidates = {place.worker.name: self._candidate(place) for place in _able(places)}
        name = self._policy.choose_model(candidates, self._clock.now_ns()) if candidates else ""
        if self._policy.is_lighter != was_lighter:
            self._announce(name)
        return name

    def _announce(self, name: str) -> None:
        self._instruments.serve_lighter(bool(name))
        if name:
            _logger.warning("the active model has no room: new sessions get %s until its load has fallen", name)
        else:
            _logger.info("the load has fallen: new sessions get the active model again")

    # What becomes of them.

    def session_ended(self, session: PoolSession) -> None:
        """A slot is free."""
        now_ns = self._clock.now_ns()
        self._policy.session_ended(now_ns, (now_ns - session.opened_ns) / 1e9)

    def report(self, place: Place, stats: Stats) -> None:
        """What a worker says of itself."""
        vitals = self._note_process(place)
        vitals.report(stats, len(self._live_sessions(place)), self._clock.now_ns())
        self._show(place)

    # From time to time.

    def look(self, places: Sequence[Place]) -> None:
        """Read the sensors, and where the threads of the workers run."""
        before = self._policy.heat.share
        self._policy.heat = heat = self._sensor.read()
        if heat.share < 1 <= before:
            _logger.warning("fewer sessions are opened: %s", heat.reason)
        elif before < 1 <= heat.share:
            _logger.info("the machine has cooled down")
        self._instruments.heat(heat.temperature_c, heat.share, heat.throttling)
        self._instruments.npu(read_npu_loads(self._root))
        for place in places:
            vitals = self._note_process(place)
            vitals.look_at_threads(self._root)
            if place.worker.pid:
                vitals.resident_bytes = place.worker.resident_bytes()
            self._show(place)

    def of(self, place: Place) -> tuple[float | None, float]:
        """Streams that a worker can decode in time, ``None`` while unknown, and streams its sessions need."""
        candidate = self._candidate(place)
        capacity = self._policy.capacity(candidate)
        return (None if math.isinf(capacity) else capacity), self._policy.needed(candidate, self._clock.now_ns())

    def _show(self, place: Place) -> None:
        vitals, name = place.vitals, place.worker.name
        capacity, needed = self.of(place)
        self._instruments.worker_capacity(name, math.inf if capacity is None else capacity, needed, vitals.load.busy)
        self._instruments.worker_confinement(
            name, vitals.bounds.hard if vitals.bounds is not None else 0, len(vitals.escaped)
        )

    def _others_load(self, place: Place) -> float:
        """Of workers of other models on the same cores."""
        cores, now_ns = set(place.vitals.cpus), self._clock.now_ns()
        return sum(
            self._policy.load(self._candidate_alone(other), now_ns)
            for other in self._places()
            if other is not place and other.model.name != place.model.name and cores & set(other.vitals.cpus)
        )

    def _candidate(self, place: Place) -> Candidate:
        return replace(self._candidate_alone(place), others_load=self._others_load(place))

    def _candidate_alone(self, place: Place) -> Candidate:
        vitals = self._note_process(place)
        sessions = self._sessions_of(place)
        opened_ns = tuple(session.opened_ns for session in sessions if not session.is_batch)
        recordings = len(sessions) - len(opened_ns)
        return Candidate(vitals.load, opened_ns, recordings, is_out_of_memory=vitals.pressure == "hard")

    def _live_sessions(self, place: Place) -> list[PoolSession]:
        return [session for session in self._sessions_of(place) if not session.is_batch]

    def _note_process(self, place: Place) -> Vitals:
        if place.worker.ready is not None and place.worker.state == "ready":
            place.vitals.began(place.worker.ready, place.worker.resident_bytes)
        return place.vitals


def _able(places: Sequence[Place]) -> list[Place]:
    """Those with a worker; where there are none, those that wait for one."""
    # While a worker is replaced, new sessions wait with the others; after a failed load they would wait for ever.
    serving = [place for place in places if place.worker.state in SERVING_STATES and place.worker.ready is not None]
    return [place for place in serving if place.worker.state != "restarting"] or serving
