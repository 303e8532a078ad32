"""The daemon: builds the parts from settings, starts them in order, and stops them in the reverse order.

Start: bind every socket, answer ``starting`` at ``/health/ready``, load the model, then READY. Stop (SIGTERM, SIGINT):
no new sessions, the running ones may finish for ``server.drain_s``, then everything closes. SIGHUP reads the token
file and the configuration again. No numpy in this process, and no native engine: both live in the workers.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import resource
import signal
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from edge_asr import __version__
from edge_asr.administration import Administration, log_reload
from edge_asr.clock import MonotonicClock
from edge_asr.errors import AddressInUse, ConfigurationError, EdgeAsrError
from edge_asr.listening.service import Listening
from edge_asr.metrics.exposition import CONTENT_TYPE, new_registry, render
from edge_asr.metrics.instruments import Instruments
from edge_asr.resources.affinity import pin_to
from edge_asr.resources.delegation import take_delegated_group
from edge_asr.resources.memory import read_process_memory
from edge_asr.resources.npu import read_npu_loads
from edge_asr.resources.thermal import hottest_celsius
from edge_asr.servers.access import HttpAccess
from edge_asr.servers.admin_door import AdminDoor
from edge_asr.servers.doors import HttpDoor, PortDoor, WyomingDoor
from edge_asr.servers.http import HttpServices
from edge_asr.servers.progress import ProgressWatch
from edge_asr.servers.routes import port_conversation, websocket_routes
from edge_asr.servers.sign_of_life import SignOfLife, sentence_of
from edge_asr.servers.status import Door, Machine, status_document
from edge_asr.servers.systemd import Notifier
from edge_asr.settings import Settings
from edge_asr.sinks.published import PublishedRecognizer
from edge_asr.sinks.running import configured_sinks, running
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.tracing.recognizer import TracedRecognizer
from edge_asr.workers.base import Recognizer
from edge_asr.workers.command_graph import require_command_graph_possible
from edge_asr.workers.models import StoreModels, served
from edge_asr.workers.pool import Pool

logger = logging.getLogger(__name__)

MAX_OPEN_FILES = 65_536

START_GRACE_S = 15.0
STOP_GRACE_S = 15.0
"""Beyond loading and draining, for what surrounds them, before systemd loses its patience."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the daemon takes from its environment; gathered by the command line, which alone reads it."""

    notify_socket: str = ""
    """``$NOTIFY_SOCKET`` of systemd; empty when started otherwise."""
    watchdog_s: float = 0.0
    """``$WATCHDOG_USEC`` in seconds; 0 for none."""
    spool_directory: Path | None = None
    """Where uploads wait; ``None`` for the system's place for temporary files."""
    inherited: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Door to the listening sockets that the service manager has opened for it (``$LISTEN_FDS``)."""
    trace_directory: Path | None = None
    """Where sessions are written down on request; ``None`` for nowhere."""
    traced_session: str = ""
    """``next``: the first session is written down."""
    admin_socket: Path | None = None
    """Where ``/admin/...`` is served without a token; ``None`` for nowhere."""
    needs_admin_socket: bool = False
    """Whether it was asked for, so that it is an error when it cannot be opened."""


def serve(
    settings: Settings,
    store: ModelStore,
    model: InstalledModel,
    surroundings: Surroundings,
    read_settings: Callable[[str], Settings],
) -> None:
    """Run the daemon until it is told to stop.

    Args:
        settings: How to serve.
        store: Where models are.
        model: The active one.
        surroundings: What the environment says.
        read_settings: Merges the configuration anew, for the model of that name (empty: the configured one).

    Raises:
        ConfigurationError: A setting of a door is wrong.
        AddressInUse: A door cannot be opened.
        ModelError: The model cannot be loaded.
        MachineError: The provider or the machine cannot do it.
    """
    _raise_open_file_limit()
    asyncio.run(_serve(settings, store, model, surroundings, read_settings))


async def _serve(
    settings: Settings,
    store: ModelStore,
    model: InstalledModel,
    surroundings: Surroundings,
    read_settings: Callable[[str], Settings],
) -> None:
    registry = new_registry()
    instruments = Instruments(registry)
    instruments.daemon_started(__version__, time.time())
    models = StoreModels(store, settings)
    groups = take_delegated_group()
    active = served(store, model, settings)
    require_command_graph_possible(active)
    pool = Pool(active, instruments, models=models, groups=groups)
    pin_to(pool.front_cpus)  # workers choose cores of their own; these are what they leave
    sinks = configured_sinks(settings, instruments.sink_final, os.environ)
    recognizer: Recognizer = PublishedRecognizer(pool, sinks, lambda: datetime.now(UTC)) if sinks else pool
    administration = Administration(pool, store, models, settings, read_settings)
    if surroundings.trace_directory is not None:
        recognizer = tracing = TracedRecognizer(recognizer, surroundings.trace_directory, MonotonicClock())
        administration.tracing = tracing
        if surroundings.traced_session:
            tracing.trace(surroundings.traced_session)
    listening = Listening(settings.microphone, recognizer, instruments) if settings.microphone.device else None
    daemon = Daemon(
        settings,
        recognizer,
        lambda: (render(registry), CONTENT_TYPE),
        surroundings,
        administration,
        listening,
    )
    async with running(sinks):
        await daemon.run()
    if listening is not None and listening.failure is not None:
        raise listening.failure


class Daemon:
    """All parts together."""

    def __init__(
        self,
        settings: Settings,
        recognizer: Recognizer,
        metrics: Callable[[], tuple[bytes, str]],
        surroundings: Surroundings,
        administration: Administration | None = None,
        listening: Listening | None = None,
    ) -> None:
        self._listening = listening
        self._settings = settings
        self._administration = administration
        self._reloading: set[asyncio.Task[None]] = set()
        self._admin: AdminDoor | None = None
        self._recognizer = recognizer
        self._metrics = metrics
        self._surroundings = surroundings
        self._notifier = Notifier(surroundings.notify_socket)
        self._sign_of_life = SignOfLife(self._notifier, ProgressWatch(settings.worker), surroundings.watchdog_s)
        self._started_s = time.monotonic()
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self.doors_opened = asyncio.Event()
        """Set once every door accepts connections, although the model may still be loading."""
        self._http: HttpDoor | None = None
        self._wyoming: WyomingDoor | None = None
        self._ports: list[PortDoor] = []

    @property
    def doors(self) -> tuple[Door, ...]:
        """Where it listens; empty before it does."""
        doors = (self._http, self._wyoming, *self._ports, self._admin)
        return tuple(door.description for door in doors if door is not None)

    def stop(self) -> None:
        """Drain and end; :meth:`run` returns then. Asked a second time, do not wait for sessions any longer."""
        if self._stop.is_set():
            logger.info("not waiting for running sessions any longer")
            self._hurry.set()
        self._stop.set()

    def reload(self) -> None:
        """Read the token file and the configuration again."""
        try:
            if self._http is not None and self._http.access.token is not None:
                self._http.access.token.reload()
        except ConfigurationError as error:
            logger.warning("the token in use stays: %s", error)
        if self._administration is not None:
            reloading = asyncio.create_task(log_reload(self._administration.reload))
            self._reloading.add(reloading)
            reloading.add_done_callback(self._reloading.discard)

    async def run(self) -> None:
        """Start, serve until :meth:`stop` or a signal, drain, end."""
        with self._signals():
            try:
                await self._open_doors()
                if self._listening is not None:
                    self._listening.start(self.stop)
                if await self._load_model():
                    await self._serve_until_stopped()
                else:
                    await self._drain()
            except EdgeAsrError as error:
                self._notifier.status(f"cannot start: {error}")
                raise
            finally:
                await self._shut_down()

    async def _serve_until_stopped(self) -> None:
        living = asyncio.create_task(self._give_signs_of_life())
        try:
            await self._stop.wait()
            await self._drain()
        finally:
            living.cancel()
            await asyncio.gather(living, return_exceptions=True)

    # Start

    async def _open_doors(self) -> None:
        inherited, settings, limits = self._surroundings.inherited, self._settings.server, self._settings.limits
        self._http = HttpDoor(settings, limits, inherited.get("http", ()))
        if settings.wyoming != "off" or "wyoming" in inherited:
            self._wyoming = WyomingDoor(settings, limits, inherited.get("wyoming", ()))
        for name, port in (("vosk", settings.vosk_port), ("sherpa", settings.sherpa_port)):
            if port or name in inherited:
                self._ports.append(PortDoor(name, port, settings, limits, inherited.get(name, ())))
        await self._http.open(self._http_services(self._http.access))
        if self._wyoming is not None:
            await self._wyoming.open(self._recognizer)
        for own in self._ports:
            conversation = port_conversation(own.description.name, limits)
            await own.open(conversation, self._recognizer, self._surroundings.spool_directory)
        await self._open_admin_door()
        for door in self.doors:
            logger.info("listening at %s (%s)", door.address, door.access)
        self.doors_opened.set()

    async def _open_admin_door(self) -> None:
        path, administration = self._surroundings.admin_socket, self._administration
        inherited = self._surroundings.inherited.get("admin", ())
        if administration is None or (path is None and not inherited):
            return
        try:
            self._admin = AdminDoor(path, self._settings.limits, inherited)
        except AddressInUse as error:
            if self._surroundings.needs_admin_socket:
                raise
            logger.warning("no admin socket: %s", error)
            return
        await self._admin.open(administration)

    def _http_services(self, access: HttpAccess) -> HttpServices:
        return HttpServices(
            recognizer=self._recognizer,
            limits=self._settings.limits,
            access=access,
            metrics=self._metrics,
            status=self.status,
            spool_directory=self._surroundings.spool_directory,
            websockets=websocket_routes(self._settings.limits),
            administrator=self._administration,
            microphone=self._listening.feed if self._listening is not None else None,
        )

    async def _load_model(self) -> bool:
        """Load the model; ``False`` when the daemon was told to stop meanwhile."""
        self._notifier.starting("loading the model", self._settings.worker.load_timeout_s + START_GRACE_S)
        if not await _unless(self._stop, self._recognizer.start()):
            return False
        self._announce()
        return True

    def _announce(self) -> None:
        status = self._recognizer.status()
        sentence = sentence_of(status)
        logger.info("%s", sentence)
        for note in status.ready.notes if status.ready else ():
            logger.warning("%s", note)
        self._notifier.ready(sentence)

    async def _give_signs_of_life(self) -> None:
        """An event loop that hangs gives none, and systemd restarts the daemon."""
        while self._surroundings.notify_socket:
            self._sign_of_life.give(self._recognizer.status(), time.monotonic())
            await asyncio.sleep(self._sign_of_life.every_s)

    # Stop

    async def _drain(self) -> None:
        """Let running sessions finish; nobody is let in any more."""
        drain_s = self._settings.server.drain_s
        self._notifier.stopping("stopping", drain_s + STOP_GRACE_S)
        if self._wyoming is not None:
            self._wyoming.stop_accepting()
        if self._listening is not None:
            await self._listening.close(drain_s)
        if not await _unless(self._hurry, self._recognizer.close(drain_s)):
            await self._recognizer.close(0)
        logger.info("stopped")

    async def _shut_down(self) -> None:
        for reloading in self._reloading:
            reloading.cancel()
        if self._listening is not None:
            await self._listening.close(0)
        await self._recognizer.close(0)
        for door in (self._wyoming, *self._ports, self._admin, self._http):
            if door is not None:
                await door.close()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        handlers = {signal.SIGTERM: self.stop, signal.SIGINT: self.stop, signal.SIGHUP: self.reload}
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    # Status

    def status(self) -> dict[str, Any]:
        """The document of ``/status``."""
        return status_document(
            self._recognizer.status(),
            self.doors,
            Machine(read_process_memory(os.getpid()).resident_bytes, hottest_celsius(), read_npu_loads()),
            version=__version__,
            uptime_s=time.monotonic() - self._started_s,
            microphone=self._listening.state if self._listening is not None else None,
        )


async def _unless(event: asyncio.Event, work: Coroutine[None, None, None]) -> bool:
    """Do the work; give it up, and return ``False``, when the event comes first. Raises what the work raises."""
    working = asyncio.create_task(work)
    waiting = asyncio.create_task(event.wait())
    try:
        await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
        return working.done()
    finally:
        working.cancel()
        waiting.cancel()
        await asyncio.gather(working, waiting, return_exceptions=True)


def _raise_open_file_limit() -> None:
    """Sockets are files, and the usual soft limit is small."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
