"""The workers as the servers see them: sessions are opened, and find the worker of their model. Asyncio, no numpy."""

from __future__ import annotations

import asyncio
import logging
import os
import uuid

from edge_asr.clock import Clock, MonotonicClock
from edge_asr.errors import EdgeAsrError, NotReady, WorkerDied
from edge_asr.metrics.instruments import Instruments
from edge_asr.requests import SessionOptions
from edge_asr.resources.delegation import DelegatedGroup
from edge_asr.resources.memory import read_process_memory, trim_heap
from edge_asr.workers.base import PoolStatus, WorkerStatus
from edge_asr.workers.capacity import Capacity
from edge_asr.workers.changes import Changes, Trial
from edge_asr.workers.command import STANDARD_LOADER
from edge_asr.workers.handover import Handover
from edge_asr.workers.heap import Tidying
from edge_asr.workers.messages import Consumed, FromWorker, Heartbeat, LoadFailed, Ready, Settled, Stats
from edge_asr.workers.model_choice import ModelChoice
from edge_asr.workers.models import Models, NoOtherModels
from edge_asr.workers.place import Place
from edge_asr.workers.roster import Roster
from edge_asr.workers.served_model import ServedModel
from edge_asr.workers.session import PoolSession

LAST_WORDS_SHARE = 0.2
"""Share of the drain time kept for sessions that would never end by themselves (an open microphone): their audio is
ended for them, so that what was said still becomes a final."""

CHECK_EVERY_S = 5.0
"""How often workers are looked at: whether they are worn out, or idle."""

TRIAL_PROTOCOL = "trial"
"""Of sessions in which a model is tried before it is used; they take nobody's place."""

_logger = logging.getLogger(__name__)


class Pool:
    """Implements :class:`~edge_asr.workers.base.Recognizer`.

    Args:
        model: The model of sessions that name none.
        instruments: Where sessions and workers are counted.
        models: Those that sessions may ask for by name.
        loader: ``module:function`` that a worker calls to load the engine.
        groups: Where each worker gets a control group; ``None`` where none are delegated to us.
    """

    def __init__(
        self,
        model: ServedModel,
        instruments: Instruments,
        *,
        models: Models | None = None,
        loader: str = STANDARD_LOADER,
        clock: Clock | None = None,
        groups: DelegatedGroup | None = None,
    ) -> None:
        limits = model.settings.limits
        self._instruments = instruments
        models = models or NoOtherModels()
        self._clock = clock or MonotonicClock()
        self._sessions: dict[str, PoolSession] = {}
        self._is_draining = self._is_closing = False
        self._why_draining = ""
        self._impatience: dict[Place, asyncio.TimerHandle] = {}
        """When the sessions of a lost worker give up waiting for the next one."""
        self._is_empty = asyncio.Event()
        self._is_empty.set()
        self._roster = Roster(model, self, instruments, loader, self._clock, groups)
        self._handover = Handover(self._roster, self._sessions.values)
        self._changes = Changes(self._roster, self._handover, models, limits.max_models, instruments, self._clock)
        placement = self._roster.placement(model)
        self.front_cpus = placement.front
        """Cores that no worker has; where this process is best kept to."""
        worker_cpus = {cpu for cpus in placement.workers for cpu in cpus}
        self._capacity = Capacity(
            model.settings, worker_cpus, lambda: self._roster, self._handover.sessions_of, instruments, self._clock
        )
        self._choice = ModelChoice(models, self._roster, self._changes, self._capacity)
        self._heap = Tidying()
        self._is_trimmed = False
        self._checking: asyncio.Task[None] | None = None
        instruments.watch_memory("front", lambda: read_process_memory(os.getpid()).resident_bytes)

    # The contract.

    async def start(self) -> None:
        """Start the workers of the active model; returns when they are ready.

        Raises:
            ModelError: The model cannot be loaded.
            MachineError: The provider or the machine cannot do it.
        """
        self.limit_sessions(self._capacity.max_sessions)
        await self._roster.active.worker.start()
        self._roster.active.used_ns = self._clock.now_ns()
        await self._changes.add_twins()
        await self._choice.look_into_the_store()
        self._capacity.look(tuple(self._roster))
        self._checking = asyncio.create_task(self._check_for_ever(), name="looking after the workers")

    async def open(self, options: SessionOptions, *, protocol: str) -> PoolSession:
        """Begin a session.

        Raises:
            NotReady: No worker is ready.
            Overloaded: Every session is in use.
            ModelNotFound: The options name a model that is not installed.
            ModelsBusy: It cannot be loaded beside the others, which are in use.
            NotEnoughMemory: It does not fit beside the others.
            ModelError: It cannot be loaded.
        """
        try:
            self._refuse_while_draining()
            self._capacity.require_slot(self._occupied)
            wanted = await self._choice.wanted(options)
            places = await self._choice.places(wanted, options)
            self._refuse_while_draining()  # loading another model takes its time
            place = self._capacity.choose(places, self._occupied, is_batch=options.is_batch)
        except EdgeAsrError as refusal:
            self._instruments.session_refused(protocol, refusal.code)
            raise
        session = self._attach(place, options, protocol)
        if not wanted and place.role == "other":
            session.tell_lighter_model(self._roster.active.model.name, place.model.name)
        session.tell_other_languages(place.model.name, place.model.manifest.languages)
        return session

    async def names(self) -> tuple[str, ...]:
        """The models that sessions may ask for by name, the active one first."""
        await self._choice.look_into_the_store()
        return (self._roster.active.model.name, *(model.name for model in self._choice.others))

    def status(self) -> PoolStatus:
        """The state now; never blocks."""
        place = self._roster.active
        worker = place.worker
        state, reason = ("draining", self._why_draining) if self._is_draining else (worker.state, worker.reason)
        return PoolStatus(
            state=state,
            reason=reason,
            sessions=self._occupied,
            max_sessions=self._capacity.max_sessions,
            restarts=self._roster.restarts,
            worker_pid=worker.pid,
            ready=worker.ready,
            stats=worker.stats,
            offered=self._choice.others if self._changes.max_models > 1 else (),
            workers=tuple(self._status_of(each) for each in sorted(self._roster, key=lambda each: each is not place)),
        )

    async def close(self, drain_s: float) -> None:
        """Refuse new sessions, let the running ones finish for so long, then end the workers."""
        self._is_closing = True
        self.drain("the daemon is stopping")
        await self._wait_until_empty(drain_s * (1 - LAST_WORDS_SHARE))
        for session in list(self._sessions.values()):
            session.end_audio()
        await self._wait_until_empty(drain_s * LAST_WORDS_SHARE)
        for session in list(self._sessions.values()):
            session.fail(NotReady("the daemon is stopping"))
        if self._checking is not None:
            self._checking.cancel()
        for place in list(self._impatience):
            self._forget_impatience(place)
        await self._changes.stop()
        await self._handover.stop()
        await self._roster.end_all()

    # What an administrator may change.

    @property
    def active_place(self) -> Place:
        """The worker of sessions that name no model."""
        return self._roster.active

    @property
    def active_model(self) -> ServedModel:
        """The model of sessions that name none."""
        return self._roster.active.model

    async def activate(self, model: ServedModel, trial: Trial) -> ServedModel:
        """Make a model the active one, after a trial; see :meth:`~edge_asr.workers.changes.Changes.activate`.

        Returns:
            The one before.
        """
        return (await self._changes.activate(model, trial)).model

    def open_trial(self, place: Place, options: SessionOptions) -> PoolSession:
        """A session in a worker that is tried."""
        return self._attach(place, options, TRIAL_PROTOCOL)

    def limit_sessions(self, max_sessions: int) -> None:
        """So many may be open at once; those that are beyond it stay."""
        self._capacity.limit_sessions(max_sessions)

    def limit_models(self, max_models: int) -> None:
        """So many may be loaded at once; those that are beyond it stay until they are idle and room is needed."""
        self._changes.max_models = max_models

    def drain(self, reason: str) -> None:
        """Open no more sessions; those that are open go on."""
        self._is_draining, self._why_draining = True, reason

    def end_drain(self) -> None:
        """Open sessions again."""
        self._is_draining = False

    # Admission.

    @property
    def _occupied(self) -> int:
        return sum(session.protocol != TRIAL_PROTOCOL for session in self._sessions.values())

    def _refuse_while_draining(self) -> None:
        if self._is_draining:
            raise NotReady(self._why_draining)

    def _attach(self, place: Place, options: SessionOptions, protocol: str) -> PoolSession:
        worker = place.worker
        worker.wake()
        if worker.state == "restarting" and place not in self._impatience:
            self._lose_patience_later(place, worker.reason)
        session = PoolSession(uuid.uuid4().hex[:12], options, protocol, worker, place.context)
        self._sessions[session.session_id] = session
        place.opened += 1
        place.used_ns = self._clock.now_ns()
        self._is_empty.clear()
        self._is_trimmed = False
        self._instruments.session_opened(protocol)
        return session

    def _status_of(self, place: Place) -> WorkerStatus:
        worker, sessions, vitals = place.worker, len(self._handover.sessions_of(place)), place.vitals
        capacity, needed = self._capacity.of(place)
        return WorkerStatus(
            name=worker.name,
            state=worker.state,
            reason=worker.reason,
            pid=worker.pid,
            restarts=worker.restarts,
            sessions=sessions,
            stats=worker.stats,
            model=place.model.name,
            role=place.role,
            cpus=vitals.cpus,
            escaped_threads=len(vitals.escaped),
            memory_bytes=vitals.resident_bytes,
            memory_limit_bytes=vitals.bounds.hard if vitals.bounds is not None else 0,
            busy=round(vitals.load.busy, 3),
            capacity_streams=capacity,
            needed_streams=needed,
        )

    async def _wait_until_empty(self, timeout_s: float) -> None:
        if not self._sessions:
            return
        try:
            await asyncio.wait_for(self._is_empty.wait(), timeout_s)
        except TimeoutError:
            _logger.warning("sessions still open after %.1f s: %d", timeout_s, len(self._sessions))

    # What workers and sessions say: implements Listener of the roster.

    def hear(self, place: Place, message: FromWorker) -> None:
        """A message of a session; the last words of a worker that it has left were taken before, or are said again."""
        if isinstance(message, (Ready, LoadFailed, Stats, Heartbeat)):
            raise TypeError(f"{type(message).__name__} is for the supervisor")
        session = self._sessions.get(message.session_id)
        if session is None or session.is_waiting or session.worker is not place.worker:
            return
        if isinstance(message, Consumed):
            session.credit(message)
        elif isinstance(message, Settled):
            session.settle(message)
            self._handover.note_settled(session, place)
        else:
            session.take(message)

    def report(self, place: Place, stats: Stats) -> None:
        """A worker's figures."""
        self._capacity.report(place, stats)
        if place.vitals.pressure != "none":
            self._changes.recycle_the_worn()

    def lose(self, place: Place, reason: str, suspects: frozenset[str]) -> None:
        """A worker has ended: its sessions wait for the next one, but for the one that ends them all."""
        for session in self._handover.sessions_of(place):
            if not session.lose_worker(suspects):
                session.fail(WorkerDied(reason))
        if self._is_closing or place.role == "trial":
            self.give_up(place, reason)
        elif not self._handover.move_the_orphans(place):
            self._forget_impatience(place)
            self._lose_patience_later(place, reason)

    def resume(self, place: Place) -> None:
        """A worker is ready again."""
        self._forget_impatience(place)
        waiting = self._handover.sessions_of(place)
        for session in waiting:
            session.resume()
        if waiting:
            _logger.info("%d sessions go on in the new worker", len(waiting))

    def give_up(self, place: Place, reason: str) -> None:
        """No worker comes: its sessions fail."""
        self._forget_impatience(place)
        for session in self._handover.sessions_of(place):
            session.fail(WorkerDied(reason))

    def has_sessions(self, place: Place) -> bool:
        """Whether the worker has work."""
        return any(session.worker is place.worker for session in self._sessions.values())

    def forget(self, session: PoolSession) -> None:
        """A session is over."""
        self._sessions.pop(session.session_id, None)
        self._capacity.session_ended(session)
        if not self._sessions:
            self._is_empty.set()
        place = next((place for place in self._roster if place.worker is session.worker), None)
        if place is not None:
            place.used_ns = self._clock.now_ns()
            self._handover.note_end(place)

    def _lose_patience_later(self, place: Place, reason: str) -> None:
        patience_s = place.model.settings.worker.replay_patience_s
        loop = asyncio.get_running_loop()
        self._impatience[place] = loop.call_later(patience_s, self.give_up, place, reason)

    def _forget_impatience(self, place: Place) -> None:
        if timer := self._impatience.pop(place, None):
            timer.cancel()

    # From time to time.

    async def _check_for_ever(self) -> None:
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            await self.check()

    async def check(self) -> None:
        """Look at the machine, recycle a worker that is worn out, unload models that nobody uses."""
        if self._sessions:
            self._capacity.look(tuple(self._roster))
            self._heap.tidy()  # of clients that have gone
        elif not self._is_trimmed:
            self._is_trimmed = True
            trim_heap()  # the audio that sessions had to be able to say again
        if self._is_draining:
            return
        self._changes.recycle_the_worn()
        for place in self._roster:
            idle_s = place.model.settings.worker.idle_unload_s
            if not idle_s or not place.takes_sessions or self._handover.sessions_of(place):
                continue
            if self._clock.now_ns() - place.used_ns >= idle_s * 1e9:
                await self._unload(place)

    async def _unload(self, place: Place) -> None:
        if place.role in ("active", "twin"):
            place.worker.unload()
        else:
            await self._roster.end(place)
