"""One worker process, seen from the front: started, spoken to, and told apart by how it ended. Asyncio.

The socket pair carries messages, the pipe of its standard error its log. ``ended`` gives the reason once both are at
their end, so that everything the worker said has been delivered before anybody acts on its death.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import cast

from edge_asr.clock import Clock, MonotonicClock
from edge_asr.resources.delegation import WorkerGroup
from edge_asr.resources.memory import read_oom_kills
from edge_asr.settings import WorkerSettings
from edge_asr.workers.black_box import BlackBox
from edge_asr.workers.command import STANDARD_LOADER, worker_command, worker_environment
from edge_asr.workers.device_words import DeviceWords
from edge_asr.workers.exits import describe_exit
from edge_asr.workers.hang import STOPPED
from edge_asr.workers.messages import FromWorker, MessageDecoder, Shutdown, ToWorker, encode_message
from edge_asr.workers.stderr_log import StderrLog

EXIT_GRACE_S = 5.0
"""Between the end of a worker's connection, or being told to end, and being killed."""

_STDERR_GRACE_S = 1.0
_READ_BYTES = 64 << 10

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Launch:
    """What a worker process is started with."""

    cpus: Collection[int]
    """Cores it is pinned to; empty for all."""
    settings: WorkerSettings
    loader: str = STANDARD_LOADER
    group: WorkerGroup | None = None
    """The control group it joins; ``None`` for that of the front."""


class WorkerProcess:
    """A running worker; made by :meth:`start`."""

    def __init__(
        self, process: Process, link: _FrontLink, clock: Clock, black_box: BlackBox, group: WorkerGroup | None
    ) -> None:
        self.suspects: frozenset[str] = frozenset()
        """Once it has ended: the sessions whose audio native code was looking at."""
        self._black_box = black_box
        self._group = group
        self._kills_before = group.oom_kills if group is not None else 0
        self._why_killed = ""
        self._oom_kills = read_oom_kills()
        self._process = process
        self._link = link
        self._clock = clock
        self._device_words: DeviceWords | None = None
        self._stderr = StderrLog(_logger, f"worker {process.pid}", clock, self._hear_line)
        self._stderr_task = asyncio.create_task(self._read_stderr())
        self._end_task = asyncio.create_task(self._wait_for_the_end())

    @classmethod
    async def start(
        cls, launch: Launch, on_message: Callable[[FromWorker], None], clock: Clock | None = None
    ) -> WorkerProcess:
        """Start the process and connect to it.

        Args:
            launch: Its cores, environment and loader.
            on_message: Called in the event loop with each message.
            clock: Limits the rate of its log lines.

        Raises:
            OSError: The system cannot start another process.
        """
        ours, theirs = socket.socketpair()
        black_box = BlackBox()
        try:
            with theirs:
                process = await _spawn(launch, theirs.fileno(), black_box.descriptor)
        except OSError:
            ours.close()
            black_box.close()
            raise
        link = _FrontLink(on_message)
        await asyncio.get_running_loop().create_unix_connection(lambda: link, sock=ours)
        return cls(process, link, clock or MonotonicClock(), black_box, launch.group)

    @property
    def pid(self) -> int:
        """Process id; of a zombie or of nothing once it has ended."""
        return self._process.pid

    def send(self, message: ToWorker) -> None:
        """Queue a message; dropped when the worker is gone, since :meth:`ended` is about to say so."""
        self._link.write(encode_message(message))

    async def drained(self) -> None:
        """Wait until the worker has read most of what was queued, or is gone."""
        await self._link.can_write.wait()

    async def ended(self) -> str:
        """Wait for the process to end; why it did, as a clause."""
        return await asyncio.shield(self._end_task)

    def kill(self, reason: str = "") -> None:
        """End it now; the reason, if there is one, is what :meth:`ended` will say."""
        self._why_killed = self._why_killed or reason
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    def watch_device(self) -> None:
        """It serves on a device: end it when the device's runtime complains again and again."""
        self._device_words = DeviceWords()

    async def stop(self) -> None:
        """Let it carry out what it was asked and end; kill it when that takes too long."""
        self.send(Shutdown())
        try:
            await asyncio.wait_for(self.ended(), EXIT_GRACE_S)
        except TimeoutError:
            _logger.warning("worker %d does not end when asked; killing it", self.pid)
            self.kill()
            await self.ended()

    async def _wait_for_the_end(self) -> str:
        await self._link.is_closed.wait()
        try:
            returncode = await asyncio.wait_for(self._process.wait(), EXIT_GRACE_S)
        except TimeoutError:
            _logger.warning("worker %d closed its connection and goes on; killing it", self.pid)
            self.kill()
            returncode = await self._process.wait()
        # A program started by the worker may keep the pipe open; its lines are not worth waiting for.
        await asyncio.wait([self._stderr_task], timeout=_STDERR_GRACE_S)
        self._stderr_task.cancel()
        self._stderr.close()
        self.suspects = frozenset() if self._was_ended_from_outside(returncode) else self._black_box.read()
        self._black_box.close()
        if self._group is not None and self._group.oom_kills > self._kills_before:
            self._why_killed = "the kernel ended it at the memory limit of its control group"
        return self._why_killed or describe_exit(returncode, self._stderr.last_words)

    def _was_ended_from_outside(self, returncode: int) -> bool:
        """Whether no audio can be to blame: native code does not stop itself; it is killed only for want of memory."""
        if self._why_killed:
            return self._why_killed == STOPPED
        was_out_of_memory = self._oom_kills is None or read_oom_kills() != self._oom_kills
        return returncode == -signal.SIGKILL and not was_out_of_memory

    def _hear_line(self, line: str) -> None:
        if self._device_words is not None:
            reason = self._device_words.hear(line, self._clock.now_ns() / 1e9)
            if reason:
                self.kill(reason)

    async def _read_stderr(self) -> None:
        pipe = self._process.stderr
        if pipe is None:
            raise RuntimeError("the worker was started without a pipe for its standard error")
        while data := await pipe.read(_READ_BYTES):
            self._stderr.feed(data)


async def _spawn(launch: Launch, fd: int, black_box_fd: int) -> Process:
    return await asyncio.create_subprocess_exec(
        *worker_command(fd, black_box_fd, launch.cpus, launch.loader, launch.group.path if launch.group else None),
        env=worker_environment(os.environ, launch.settings.malloc_arenas),
        pass_fds=(fd, black_box_fd),
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=PIPE,
    )


class _FrontLink(asyncio.Protocol):
    """The front's end of the socket pair."""

    def __init__(self, on_message: Callable[[FromWorker], None]) -> None:
        self.is_closed = asyncio.Event()
        self.can_write = asyncio.Event()
        self.can_write.set()
        self._on_message = on_message
        self._decoder = MessageDecoder(FromWorker)
        self._transport: asyncio.Transport | None = None

    def write(self, framed: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(framed)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        for message in self._decoder.feed(data):
            self._on_message(message)

    def pause_writing(self) -> None:
        self.can_write.clear()

    def resume_writing(self) -> None:
        self.can_write.set()

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None:
            _logger.info("connection to the worker lost: %s", exc)
        self.can_write.set()
        self.is_closed.set()
