"""Keeps one worker running: starts it, waits until it is ready, notices its end, starts it again. Asyncio.

A worker that dies is replaced after a short delay that doubles. A worker that cannot load its model is not a reason to
try as fast as possible: the state becomes ``failed`` with the reason, and the next try comes after the longest delay.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Literal

import msgspec

from edge_asr.clock import Clock, MonotonicClock
from edge_asr.errors import EdgeAsrError, MachineError, ProviderUnavailable
from edge_asr.metrics.instruments import Instruments
from edge_asr.resources.memory import read_process_memory
from edge_asr.resources.processes import read_activity
from edge_asr.workers.backoff import Backoff
from edge_asr.workers.device_health import DeviceHealth, runs_on_device
from edge_asr.workers.hang import REST_S, SPOKE_S, HangWatch
from edge_asr.workers.load_answer import LoadAnswer
from edge_asr.workers.messages import Configure, FromWorker, Heartbeat, LoadFailed, Ready, Stats, ToWorker
from edge_asr.workers.process import Launch, WorkerProcess

WorkerState = Literal["starting", "ready", "restarting", "failed", "idle", "waking"]
"""``idle``: ended on purpose until there is work; ``waking``: being loaded again because there is."""

SERVING_STATES = frozenset(("ready", "restarting", "idle", "waking"))
"""States in which a session may begin: its audio waits for the next worker where there is none."""

MOST_INTERRUPTED_LOADS = 4
"""In a row, before a model that loaded before is taken to be what is wrong: until then its files may just be written
anew, or memory be short for a moment."""

RELOAD_FACTOR = 10.0
LEAST_RELOAD_S = 15.0
"""A worker in another's place that loads ten times as long as the first one did, and at least so long, stands still."""

_logger = logging.getLogger(__name__)


class Supervisor:
    """One place in the pool, and whatever process fills it at the moment.

    Args:
        name: Number of the place, for metrics.
        launch: How its processes are started.
        configure: What each is told first.
        on_message: Called with every message of a session.
        on_lost: Called when a worker that was ready has ended, after its last message: with the reason, and the
            sessions whose audio native code was looking at.
        on_ready: Called when a worker that takes the place of another one can take sessions.
        on_failed_load: Called with the reason when none could be loaded in its place; the next try is far away.
        has_sessions: Whether it has work; a worker without any is silent.
        instruments: Where its state is counted.
        clock: What times are read from.
        on_stats: Called with its figures, once a second while there is work.
    """

    def __init__(
        self,
        name: str,
        launch: Launch,
        configure: Configure,
        instruments: Instruments,
        clock: Clock | None = None,
        *,
        on_message: Callable[[FromWorker], None],
        on_lost: Callable[[str, frozenset[str]], None],
        on_ready: Callable[[], None],
        on_failed_load: Callable[[str], None],
        has_sessions: Callable[[], bool],
        on_stats: Callable[[Stats], None] = lambda _stats: None,
    ) -> None:
        self.name = name
        self.state: WorkerState = "starting"
        self.reason = "the model is being loaded"
        self.restarts = 0
        self.ready: Ready | None = None
        self.stats: Stats | None = None
        self._launch = launch
        self._configure = configure
        self._on_message = on_message
        self._on_lost = on_lost
        self._on_ready = on_ready
        self._on_failed_load = on_failed_load
        self._has_sessions = has_sessions
        self._on_stats = on_stats
        self._heard_ns = self._decoded_ns = 0
        self._interrupted_loads = 0
        self._instruments = instruments
        self._clock = clock or MonotonicClock()
        self._backoff = Backoff(launch.settings)
        self._device = DeviceHealth()
        self._process: WorkerProcess | None = None
        self._answer: LoadAnswer | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._is_wanted = asyncio.Event()
        self._is_wanted.set()
        self._ending: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """Process id of the worker; 0 while there is none."""
        return self._process.pid if self._process is not None else 0

    def resident_bytes(self) -> int:
        """Resident memory of the worker; 0 while there is none."""
        try:
            return read_process_memory(self.pid).resident_bytes if self.pid else 0
        except ProcessLookupError:
            return 0

    async def start(self) -> None:
        """Start the first worker and wait until it is ready; from then on it is kept running.

        Raises:
            ModelError: The model cannot be loaded.
            MachineError: The provider or the machine cannot do it.
        """
        self._instruments.worker_down(self.name)
        process = await self._load()
        self._keeper = asyncio.create_task(self._keep_running(process), name=f"worker {self.name}")

    async def stop(self) -> None:
        """End the worker, and keep none from now on."""
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
        if self._process is not None:
            await self._process.stop()
            self._process = None
        self._instruments.worker_down(self.name)

    # Ended on purpose.

    def kill(self, reason: str) -> None:
        """End the worker now; another one takes its place, and its sessions go on there."""
        if self._process is not None:
            self._process.kill(reason)

    def unload(self) -> None:
        """End a worker that has no sessions, and keep none until :meth:`wake`."""
        if self.state != "ready" or self._process is None:
            return
        self._is_wanted.clear()
        self.state, self.reason = "idle", "nobody has spoken for a while; the model is loaded again on demand"
        self._instruments.worker_down(self.name)
        self._ending = asyncio.create_task(self._process.stop(), name=f"unloading worker {self.name}")

    def renew(self) -> None:
        """End a worker that has no sessions, and load the model anew; sessions that come meanwhile wait."""
        self.unload()
        self.wake()

    def wake(self) -> None:
        """There is work again: load the model anew."""
        if self.state == "idle":
            self.state, self.reason = "waking", "the model is being loaded again after a pause"
            self._is_wanted.set()

    def send(self, message: ToWorker) -> None:
        """Queue a message for the worker; dropped while there is none."""
        if self._process is not None:
            self._process.send(message)

    async def drained(self) -> None:
        """Wait until the worker takes more, or there is none."""
        if self._process is not None:
            await self._process.drained()

    # One worker's life.

    async def _keep_running(self, process: WorkerProcess) -> None:
        try:
            await self._replace_for_ever(process)
        except Exception as error:
            _logger.exception("the supervisor of worker %s fails", self.name)
            self.state, self.reason = "failed", f"the supervisor failed: {error!r}"

    async def _replace_for_ever(self, process: WorkerProcess) -> None:
        while True:
            delay_s = await self._watch(process)
            next_process = None
            while next_process is None:
                await asyncio.sleep(delay_s)
                try:
                    next_process = await self._load()
                except ProviderUnavailable as error:
                    delay_s = self._note_failed_load(error)  # it is known not to run; trying at once changes nothing
                except EdgeAsrError as error:
                    delay_s = self._note_interrupted_load(error)
            self._interrupted_loads = 0
            process = next_process
            self._on_ready()

    async def _watch(self, process: WorkerProcess) -> float:
        """Wait for the end of a worker that serves; the delay before the next one."""
        since_ns = self._clock.now_ns()
        guard = asyncio.create_task(self._end_when_it_hangs(process), name=f"watch of worker {self.name}")
        try:
            reason = await process.ended()
        finally:
            guard.cancel()
        self._process = None
        if self._ending is not None:
            return await self._sleep(self._ending)
        self._note_device(reason)
        self.restarts += 1
        self.state, self.reason = "restarting", f"the worker ended ({reason})"
        self._instruments.worker_lost(self.name, "died")
        delay_s = self._backoff.after_death((self._clock.now_ns() - since_ns) / 1e9)
        _logger.error("worker %d ended: %s; starting a new one in %.1f s", process.pid, reason, delay_s)
        self._on_lost(reason, self._suspects(process))
        return delay_s

    def _suspects(self, process: WorkerProcess) -> frozenset[str]:
        """Sessions whose audio may have ended the worker; none while its device may have."""
        provider = self.ready.provider if self.ready is not None else ""
        return frozenset() if runs_on_device(provider) else process.suspects

    def _note_device(self, reason: str) -> None:
        """Give the device up when it ends one worker after the other."""
        if self.ready is None or self._device.verdict:
            return
        self._device.note_death(self.ready.provider, reason, self._clock.now_ns() / 1e9)
        if self._device.verdict:
            self._configure = msgspec.structs.replace(self._configure, given_up=self._device.verdict)
            _logger.error("provider %s is given up: %s", self.ready.provider, self._device.verdict)

    async def _sleep(self, ending: asyncio.Task[None]) -> float:
        """The worker was ended on purpose: wait until there is work; the delay before the next one."""
        await ending
        self._ending = None
        _logger.info("worker %s is unloaded, since it had no session for a while", self.name)
        await self._is_wanted.wait()
        return 0.0

    async def _end_when_it_hangs(self, process: WorkerProcess) -> None:
        """Kill a worker that has sessions and says nothing, or says that it lives and decodes nothing."""
        watch, had_sessions, rest_s = HangWatch(self._launch.settings), False, REST_S
        while True:
            await asyncio.sleep(rest_s)
            now_ns = self._clock.now_ns()
            if not (had_sessions and self._has_sessions()):
                # What it said before there was work tells nothing about now.
                had_sessions = self._has_sessions()
                self._heard_ns = self._decoded_ns = now_ns
                watch.forget()
                rest_s = SPOKE_S if had_sessions else REST_S
                continue
            silent_s, without_progress_s = (now_ns - self._heard_ns) / 1e9, (now_ns - self._decoded_ns) / 1e9
            rest_s = watch.next_look_s(silent_s)
            activity = read_activity(process.pid) if silent_s >= SPOKE_S else None
            reason = watch.reason(activity, now_ns / 1e9, silent_s, without_progress_s)
            if reason:
                process.kill(reason)
                return

    def _note_interrupted_load(self, error: EdgeAsrError) -> float:
        """Sessions go on waiting, unless it happens again and again."""
        self._interrupted_loads += 1
        if self._interrupted_loads >= MOST_INTERRUPTED_LOADS:
            return self._note_failed_load(error)
        self.restarts += 1
        self.state, self.reason = "restarting", str(error)
        self._instruments.worker_lost(self.name, "load_failed")
        delay_s = self._backoff.after_death(0.0)
        _logger.warning("%s; starting a new one in %.1f s", error, delay_s)
        return delay_s

    def _note_failed_load(self, error: EdgeAsrError) -> float:
        self.restarts += 1
        self.state, self.reason = "failed", str(error)
        self._instruments.worker_lost(self.name, "load_failed")
        delay_s = self._backoff.after_failed_load()
        _logger.error("no worker: %s; trying again in %.0f s", error, delay_s)
        self._on_failed_load(self.reason)
        return delay_s

    async def _load(self) -> WorkerProcess:
        """Start a worker and wait for its answer; it is ended again when the answer is not READY."""
        is_reload = self.ready is not None
        answer = self._answer = LoadAnswer(self._configure.model_directory, self._load_timeout_s, is_reload=is_reload)
        process = self._process = await self._start_process()
        try:
            process.send(
                msgspec.structs.replace(self._configure, measures_step=False) if is_reload else self._configure
            )
            self._accept(await answer.of(process))
        except BaseException:
            self._process = None
            process.kill()
            await process.ended()
            raise
        return process

    async def _start_process(self) -> WorkerProcess:
        """Start a process; when cancelled half way, not before it can be, and has been, ended again."""
        starting = asyncio.create_task(WorkerProcess.start(self._launch, self._take))
        try:
            return await asyncio.shield(starting)
        except OSError as error:
            raise MachineError(f"cannot start a worker process: {error}") from error
        except asyncio.CancelledError:
            process = await starting
            process.kill()
            await process.ended()
            raise

    @property
    def _load_timeout_s(self) -> float:
        longest_s = self._launch.settings.load_timeout_s
        if self.ready is None:
            return longest_s
        return min(longest_s, max(LEAST_RELOAD_S, RELOAD_FACTOR * self.ready.load_s))

    def _accept(self, answer: Ready) -> None:
        self.ready = answer
        self.state, self.reason = "ready", ""
        if self._process is not None and runs_on_device(answer.provider):
            self._process.watch_device()
        self._instruments.worker_ready(
            self.name,
            answer.load_s,
            model=answer.model,
            family=answer.family,
            provider=answer.provider,
            languages=",".join(answer.languages),
            threads=answer.threads,
            digest=self._configure.digest,
        )
        _logger.info(
            "worker %d is ready: %s on %s after %.1f s", answer.pid, answer.model, answer.provider, answer.load_s
        )

    def _take(self, message: FromWorker) -> None:
        self._heard_ns = self._clock.now_ns()
        if isinstance(message, Heartbeat):
            return
        if isinstance(message, Stats):
            self._decoded_ns = self._heard_ns
            self.stats = message
            rate_hz = self.ready.sample_rate_hz if self.ready is not None else 1
            self._instruments.worker_reported(self.name, _figures(message, rate_hz))
            self._instruments.worker_stepped(
                self.name,
                (message.batch_sizes, message.batched_streams),
                (message.waits, message.wait_s),
                (message.steps, message.decode_s),
            )
            self._on_stats(message)
        elif isinstance(message, (Ready, LoadFailed)):
            self.stats = None
            if self._answer is not None:
                self._answer.take(message)
        else:
            self._on_message(message)


def _figures(stats: Stats, sample_rate_hz: int) -> dict[str, float]:
    figures = {name: getattr(stats, name) for name in stats.__struct_fields__}
    done = stats.second_passes.get("done", 0)
    return {
        **figures,
        "dropped_s": stats.dropped_samples / sample_rate_hz,
        "second_passes_done": done,
        "second_passes_skipped": sum(stats.second_passes.values()) - done,
    }
