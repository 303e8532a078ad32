"""The workers as the servers see them: sessions are spread over those that are ready. Asyncio, no numpy.

Today the pool has one worker; its code does not know that.
"""

from __future__ import annotations

import asyncio
import logging
import os
import uuid
from pathlib import Path

from edge_asr.clock import Clock, MonotonicClock
from edge_asr.errors import EdgeAsrError, ModelNotFound, NotReady, Overloaded, WorkerDied
from edge_asr.metrics.instruments import Instruments
from edge_asr.requests import SessionOptions
from edge_asr.resources.memory import read_process_memory
from edge_asr.resources.topology import read_topology, worker_cores
from edge_asr.settings import Settings
from edge_asr.workers.base import PoolStatus, WorkerStatus
from edge_asr.workers.command import STANDARD_LOADER
from edge_asr.workers.configuration import pack
from edge_asr.workers.messages import (
    Configure,
    Consumed,
    FromWorker,
    Heartbeat,
    LoadFailed,
    Ready,
    Settled,
    Stats,
)
from edge_asr.workers.process import Launch
from edge_asr.workers.session import PoolSession, SessionContext
from edge_asr.workers.supervisor import Supervisor

LAST_WORDS_SHARE = 0.2
"""Share of the drain time kept for sessions that would never end by themselves (an open microphone): their audio is
ended for them, so that what was said still becomes a final."""

_logger = logging.getLogger(__name__)


class Pool:
    """Implements :class:`~edge_asr.workers.base.Recognizer`.

    Args:
        directory: The model's files and its manifest.
        settings: Groups ``engine``, ``endpoint``, ``scheduler``, ``worker`` and ``limits`` count here.
        instruments: Where sessions and workers are counted.
        vad_model: File of the voice activity detector, where one is installed.
        loader: ``module:function`` that a worker calls to load the engine.
    """

    def __init__(
        self,
        directory: Path,
        settings: Settings,
        instruments: Instruments,
        *,
        vad_model: Path | None = None,
        loader: str = STANDARD_LOADER,
        clock: Clock | None = None,
    ) -> None:
        self._max_sessions = settings.limits.max_sessions
        self._instruments = instruments
        self._sessions: dict[str, PoolSession] = {}
        self._is_draining = False
        self._patience_s = settings.worker.replay_patience_s
        self._impatience: dict[str, asyncio.TimerHandle] = {}
        """By worker: when its sessions give up waiting for the next one."""
        self._is_empty = asyncio.Event()
        self._is_empty.set()
        self._context = SessionContext(
            settings.scheduler.backlog_s, instruments, clock or MonotonicClock(), self._forget
        )
        cpus = settings.worker.cpus or worker_cores(read_topology(), settings.engine.threads)
        launch = Launch(cpus, settings.worker, loader)
        self._workers = [self._supervisor("0", launch, pack(directory, settings, vad_model))]
        self._watch_memory()

    def _supervisor(self, name: str, launch: Launch, configure: Configure) -> Supervisor:
        return Supervisor(
            name,
            launch,
            configure,
            self._take,
            lambda reason, suspects: self._lose(name, reason, suspects),
            lambda: self._resume(name),
            lambda reason: self._give_up(name, reason),
            lambda: any(session.worker.name == name for session in self._sessions.values()),
            self._instruments,
        )

    # The contract.

    async def start(self) -> None:
        """Start the workers; returns when all are ready.

        Raises:
            ModelError: The model cannot be loaded.
            MachineError: The provider or the machine cannot do it.
        """
        self._instruments.limit_sessions(self._max_sessions)
        try:
            async with asyncio.TaskGroup() as group:
                for worker in self._workers:
                    group.create_task(worker.start())
        except ExceptionGroup as failures:
            await self._stop_workers()
            raise failures.exceptions[0] from None

    async def open(self, options: SessionOptions, *, protocol: str) -> PoolSession:
        """Begin a session.

        Raises:
            NotReady: No worker is ready.
            Overloaded: Every session is in use.
            ModelNotFound: The options name a model that is not the one being served.
        """
        try:
            worker = self._admit(options)
        except EdgeAsrError as refusal:
            self._instruments.session_refused(protocol, refusal.code)
            raise
        if worker.state != "ready" and worker.name not in self._impatience:
            self._lose_patience_later(worker.name, worker.reason)
        session = PoolSession(uuid.uuid4().hex[:12], options, protocol, worker, self._context)
        self._sessions[session.session_id] = session
        self._is_empty.clear()
        self._instruments.session_opened(protocol)
        return session

    def status(self) -> PoolStatus:
        """The state now; never blocks."""
        worker = next((worker for worker in self._workers if worker.state == "ready"), self._workers[0])
        state, reason = ("draining", "the daemon is stopping") if self._is_draining else (worker.state, worker.reason)
        return PoolStatus(
            state=state,
            reason=reason,
            sessions=len(self._sessions),
            max_sessions=self._max_sessions,
            restarts=sum(worker.restarts for worker in self._workers),
            worker_pid=worker.pid,
            ready=worker.ready,
            stats=worker.stats,
            workers=tuple(map(self._worker_status, self._workers)),
        )

    def _worker_status(self, worker: Supervisor) -> WorkerStatus:
        sessions = len(self._sessions_of(worker.name))
        return WorkerStatus(
            worker.name, worker.state, worker.reason, worker.pid, worker.restarts, sessions, worker.stats
        )

    async def close(self, drain_s: float) -> None:
        """Refuse new sessions, let the running ones finish for so long, then end the workers."""
        self._is_draining = True
        await self._wait_until_empty(drain_s * (1 - LAST_WORDS_SHARE))
        for session in list(self._sessions.values()):
            session.end_audio()
        await self._wait_until_empty(drain_s * LAST_WORDS_SHARE)
        for session in list(self._sessions.values()):
            session.fail(NotReady("the daemon is stopping"))
        await self._stop_workers()

    async def _stop_workers(self) -> None:
        for name in list(self._impatience):
            self._forget_impatience(name)
        await asyncio.gather(*(worker.stop() for worker in self._workers))

    # Admission.

    def _admit(self, options: SessionOptions) -> Supervisor:
        """The worker for a new session: the ready one with the fewest."""
        status = self.status()
        # While a worker is replaced, new sessions wait with the others; after a failed load they would wait for ever.
        if status.state not in ("ready", "restarting") or status.ready is None:
            raise NotReady(status.reason)
        if options.model not in ("", status.ready.model):
            raise ModelNotFound(options.model, f"this daemon serves {status.ready.model!r}")
        if len(self._sessions) >= self._max_sessions:
            raise Overloaded(f"all {self._max_sessions} sessions are in use")
        able = (worker for worker in self._workers if worker.state == status.state)
        return min(able, key=lambda worker: sum(session.worker is worker for session in self._sessions.values()))

    def _forget(self, session: PoolSession) -> None:
        self._sessions.pop(session.session_id, None)
        if not self._sessions:
            self._is_empty.set()

    async def _wait_until_empty(self, timeout_s: float) -> None:
        if not self._sessions:
            return
        try:
            await asyncio.wait_for(self._is_empty.wait(), timeout_s)
        except TimeoutError:
            _logger.warning("%d sessions are still open after %.1f s", len(self._sessions), timeout_s)

    # What workers say.

    def _take(self, message: FromWorker) -> None:
        if isinstance(message, (Ready, LoadFailed, Stats, Heartbeat)):
            raise TypeError(f"{type(message).__name__} is for the supervisor")
        session = self._sessions.get(message.session_id)
        if session is None:
            return  # cancelled; the worker did not know yet
        if session.is_waiting:
            return  # the last words of a worker that is gone were taken before
        if isinstance(message, Consumed):
            session.credit(message.total_bytes)
        elif isinstance(message, Settled):
            session.settle(message)
        else:
            session.take(message)

    def _lose(self, name: str, reason: str, suspects: frozenset[str]) -> None:
        """A worker has ended: its sessions wait for the next one, but for the one that ends them all."""
        for session in self._sessions_of(name):
            if not session.lose_worker(suspects):
                session.fail(WorkerDied(reason))
        if self._is_draining:
            self._give_up(name, reason)
            return
        self._forget_impatience(name)
        self._lose_patience_later(name, reason)

    def _lose_patience_later(self, name: str, reason: str) -> None:
        self._impatience[name] = asyncio.get_running_loop().call_later(self._patience_s, self._give_up, name, reason)

    def _resume(self, name: str) -> None:
        self._forget_impatience(name)
        waiting = self._sessions_of(name)
        for session in waiting:
            session.resume()
        if waiting:
            _logger.info("%d sessions go on in the new worker", len(waiting))

    def _give_up(self, name: str, reason: str) -> None:
        self._forget_impatience(name)
        for session in self._sessions_of(name):
            session.fail(WorkerDied(reason))

    def _forget_impatience(self, name: str) -> None:
        if timer := self._impatience.pop(name, None):
            timer.cancel()

    def _sessions_of(self, name: str) -> list[PoolSession]:
        return [session for session in self._sessions.values() if session.worker.name == name]

    # Figures.

    def _watch_memory(self) -> None:
        self._instruments.watch_memory("front", lambda: read_process_memory(os.getpid()).resident_bytes)
        for worker in self._workers:
            self._instruments.watch_memory(f"worker-{worker.name}", worker.resident_bytes)
