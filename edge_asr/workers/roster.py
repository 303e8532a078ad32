"""The places of the pool: workers are started and ended here, and found by the model they serve. Asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Protocol

from edge_asr.clock import Clock
from edge_asr.metrics.instruments import Instruments
from edge_asr.resources.delegation import DelegatedGroup
from edge_asr.resources.topology import read_topology
from edge_asr.workers.messages import FromWorker, Stats
from edge_asr.workers.place import Place, Role
from edge_asr.workers.placement import Placement, assign_cores
from edge_asr.workers.process import Launch
from edge_asr.workers.served_model import ServedModel
from edge_asr.workers.session import PoolSession, SessionContext
from edge_asr.workers.supervisor import Supervisor
from edge_asr.workers.vitals import Vitals


class Listener(Protocol):
    """Who hears what becomes of the workers; of which one is told each time."""

    def hear(self, place: Place, message: FromWorker) -> None:
        """A message of a session."""
        ...

    def report(self, place: Place, stats: Stats) -> None:
        """Its figures, once a second while there is work."""
        ...

    def lose(self, place: Place, reason: str, suspects: frozenset[str]) -> None:
        """A worker that was ready has ended, over the audio of these sessions."""
        ...

    def resume(self, place: Place) -> None:
        """Another one fills its place."""
        ...

    def give_up(self, place: Place, reason: str) -> None:
        """None could be loaded in its place."""
        ...

    def has_sessions(self, place: Place) -> bool:
        """Whether it has work."""
        ...

    def forget(self, session: PoolSession) -> None:
        """A session is over."""
        ...


class Roster:
    """All places, the active one among them.

    Args:
        active: The model of sessions that name none.
        listener: Hears of the workers.
        instruments: Where workers are counted.
        loader: ``module:function`` that a worker calls to load the engine.
        clock: What ages are read from.
        groups: Where each worker gets a control group; ``None`` where none are delegated to us.
    """

    def __init__(
        self,
        active: ServedModel,
        listener: Listener,
        instruments: Instruments,
        loader: str,
        clock: Clock,
        groups: DelegatedGroup | None = None,
    ) -> None:
        self._groups = groups
        self._listener = listener
        self._instruments = instruments
        self._loader = loader
        self._clock = clock
        self._topology = read_topology()  # now: later this process may be on cores of its own
        self._places: list[Place] = []
        self._ending: set[Place] = set()
        self._restarts_before = 0
        self.active = self.add(active, "active")

    def __iter__(self) -> Iterator[Place]:
        return iter(tuple(self._places))

    @property
    def restarts(self) -> int:
        """Workers that were replaced because they failed, those of places that are gone included."""
        return self._restarts_before + sum(place.worker.restarts for place in self._places)

    @property
    def twins(self) -> tuple[Place, ...]:
        """Places that serve the active model beside the active one."""
        return tuple(place for place in self._places if place.role == "twin")

    def placement(self, model: ServedModel) -> Placement:
        """The cores of the workers that serve a model.

        Raises:
            ConfigurationError: There are too few for its settings.
        """
        worker, engine = model.settings.worker, model.settings.engine
        return assign_cores(self._topology, worker.count, engine.threads, worker.cpus)

    def serving(self, name: str) -> Place | None:
        """The place that takes sessions of this model."""
        return next(iter(self.all_serving(name)), None)

    def all_serving(self, name: str) -> list[Place]:
        """Every place that takes sessions of this model, the active one first."""
        places = [place for place in self._places if place.takes_sessions and place.model.name == name]
        return sorted(places, key=lambda place: place is not self.active)

    def add(self, model: ServedModel, role: Role, slot: int | None = None) -> Place:
        """A place whose worker is still to be started.

        Args:
            model: What it serves.
            role: Who comes to it.
            slot: Which of the core sets it gets; ``None`` for the one that the fewest workers have.
        """
        number = self._free_number()
        core_sets = self.placement(model).workers
        slot = self._least_used(len(core_sets)) if slot is None else slot % len(core_sets)
        cpus = core_sets[slot]
        holder: list[Place] = []  # the supervisor's callbacks tell of the place, which needs the supervisor
        group = self._groups.add(f"worker-{number}") if self._groups is not None else None
        launch = Launch(cpus, model.settings.worker, self._loader, group)
        supervisor = self._supervisor(number, model, launch, lambda: holder[0])
        vitals = Vitals(number, model.settings, cpus, group)
        place = Place(model, supervisor, self._context(model), vitals, slot, role)
        holder.append(place)
        place.used_ns = self._clock.now_ns()
        self._places.append(place)
        self._instruments.watch_memory(f"worker-{number}", place.worker.resident_bytes)
        return place

    def activate(self, place: Place) -> None:
        """From now on sessions that name no model come here."""
        self.active.role, place.role = "other", "active"
        self.active = place

    async def end(self, place: Place) -> None:
        """End a place and its worker; ending it twice is allowed."""
        if place in self._ending:
            return
        self._ending.add(place)
        place.role = "leaving"
        await place.worker.stop()
        # Only now: its number must not be given to another one before.
        self._ending.discard(place)
        self._places.remove(place)
        self._restarts_before += place.worker.restarts
        self._instruments.worker_retired(place.worker.name)

    async def end_all(self) -> None:
        """End every worker; the places stay for those who ask."""
        await asyncio.gather(*(place.worker.stop() for place in self._places))

    def _free_number(self) -> str:
        taken = {place.worker.name for place in self._places}
        return next(str(number) for number in range(len(taken) + 1) if str(number) not in taken)

    def _least_used(self, slots: int) -> int:
        used = [place.slot % slots for place in self._places]
        return min(range(slots), key=used.count)

    def _context(self, model: ServedModel) -> SessionContext:
        return SessionContext(model.settings.scheduler, self._instruments, self._clock, self._listener.forget)

    def _supervisor(self, name: str, model: ServedModel, launch: Launch, place: Callable[[], Place]) -> Supervisor:
        listener = self._listener
        return Supervisor(
            name,
            launch,
            model.configure,
            self._instruments,
            on_message=lambda message: listener.hear(place(), message),
            on_lost=lambda reason, suspects: listener.lose(place(), reason, suspects),
            on_ready=lambda: listener.resume(place()),
            on_failed_load=lambda reason: listener.give_up(place(), reason),
            has_sessions=lambda: listener.has_sessions(place()),
            on_stats=lambda stats: listener.report(place(), stats),
        )
