"""Workers on this machine: a process for each core, as many as its memory is enough for."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO

import msgspec

from edge_asr.batch.child import STANDARD_LOADER
from edge_asr.batch.memory_valve import MemoryValve
from edge_asr.batch.messages import (
    Done,
    FromChild,
    Listening,
    Lost,
    Order,
    Outcome,
    Ready,
    Returned,
    Task,
    Unfit,
    Unusable,
)
from edge_asr.engines.trial import death_of
from edge_asr.errors import NotEnoughMemory, error_of
from edge_asr.settings import WorkerSettings
from edge_asr.workers.command import worker_environment
from edge_asr.workers.exits import describe_exit

MOST_FAILED_STARTS = 3
"""So many workers in a row that end while they load say that the next one will, too."""

_READ_BYTES = 1 << 16


@dataclass(slots=True)
class _Child:
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    silent_since_s: float
    task: Task | None = None
    is_ready: bool = False
    has_overslept: bool = False
    unread: bytearray = field(default_factory=bytearray)

    def tell(self, message: msgspec.Struct) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(msgspec.json.encode(message) + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the end of its answers says it

    def last_words(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")


class LocalCrew:
    """Child processes, started when there is work for them and dismissed when memory is short."""

    def __init__(
        self,
        order: Order,
        size: int,
        valve: MemoryValve,
        available_bytes: Callable[[], int],
        settings: WorkerSettings,
        *,
        loader: str = STANDARD_LOADER,
    ) -> None:
        """Nobody is started yet.

        Args:
            order: What each is to hear with.
            size: Processes, at most.
            valve: How many of them memory is enough for.
            available_bytes: Memory of the machine that can be used without swapping, now.
            settings: Time-outs, and the environment of a worker.
            loader: Replaced by tests.
        """
        self._order = order
        self._size = size
        self._valve = valve
        self._available_bytes = available_bytes
        self._settings = settings
        self._loader = loader
        self._children: list[_Child] = []
        self._selector = selectors.DefaultSelector()
        self._outcomes: deque[Outcome] = deque()
        self._failed_starts = 0

    @property
    def description(self) -> str:
        """Who works, for people."""
        return f"{self._size} {'process' if self._size == 1 else 'processes'} on this machine"

    @property
    def size(self) -> int:
        """Processes that run now."""
        return len(self._children)

    def room(self) -> int:
        """Tasks that memory and cores are enough for; one, however short memory is, when nothing is being heard."""
        idle = self._idle()
        available_bytes = self._available_bytes()
        least = 0 if len(idle) < len(self._children) or self._outcomes else 1
        if self._valve.is_short(available_bytes):
            for child in idle[least:]:
                self._dismiss(child)
            return least
        loading = sum(not child.is_ready for child in self._children)
        more = min(self._size - len(self._children), self._valve.more_workers(available_bytes, loading))
        return max(least, len(idle) + more)

    def give(self, task: Task) -> None:
        """Hand it to somebody idle, or to a new process."""
        idle = self._idle()
        child = idle[0] if idle else self._start()
        child.task = task
        child.silent_since_s = time.monotonic()
        child.tell(task)

    def next(self, timeout_s: float) -> Outcome | None:
        """Read what the processes say until one has something to tell.

        Raises:
            EdgeAsrError: The model cannot be loaded, or process after process ends while it loads.
        """
        if not self._outcomes:
            for key, _ in self._selector.select(timeout_s):
                self._read(key.data)
            self._wake_sleepers()
        return self._outcomes.popleft() if self._outcomes else None

    def close(self) -> None:
        """End every process."""
        for child in list(self._children):
            self._dismiss(child)
        self._selector.close()

    def _idle(self) -> list[_Child]:
        return [child for child in self._children if child.task is None]

    def _start(self) -> _Child:
        errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the child
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "edge_asr.batch.child", "--loader", self._loader],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=worker_environment(os.environ, self._settings.malloc_arenas),
        )
        assert process.stdout is not None
        child = _Child(process, errors, time.monotonic())
        self._children.append(child)
        self._selector.register(process.stdout, selectors.EVENT_READ, child)
        child.tell(self._order)
        return child

    def _dismiss(self, child: _Child) -> None:
        assert child.process.stdout is not None
        self._selector.unregister(child.process.stdout)
        self._children.remove(child)
        child.process.kill()
        child.process.communicate()
        child.errors.close()

    def _read(self, child: _Child) -> None:
        assert child.process.stdout is not None
        data = os.read(child.process.stdout.fileno(), _READ_BYTES)
        if not data:
            self._bury(child)
            return
        child.silent_since_s = time.monotonic()
        child.unread += data
        *lines, rest = child.unread.split(b"\n")
        child.unread = bytearray(rest)
        for line in lines:
            self._hear(child, msgspec.json.decode(line, type=FromChild))

    def _hear(self, child: _Child, message: FromChild) -> None:
        match message:
            case Ready():
                child.is_ready = True
                self._failed_starts = 0
            case Done() | Unusable():
                child.task = None
                self._outcomes.append(message)
            case Unfit(code, sentence):
                if code != NotEnoughMemory.code or not any(other.is_ready for other in self._children):
                    raise error_of(code, sentence)
                self._do_without(child)
            case Listening():
                pass

    def _bury(self, child: _Child) -> None:
        returncode = child.process.wait()
        words = child.last_words()
        self._dismiss(child)
        if not child.is_ready:
            self._failed_starts += 1
            if self._failed_starts == MOST_FAILED_STARTS:
                raise death_of(self._order.model, "cpu", returncode, words)
        if child.task is not None:
            last = words.strip().splitlines()[-1:] or [""]
            how = "it hung" if child.has_overslept else describe_exit(returncode, last[0])
            self._outcomes.append(Lost(child.task.number, how))

    def _do_without(self, child: _Child) -> None:
        """Memory was enough when the process was started, and is no more."""
        self._dismiss(child)
        self._size = max(1, len(self._children))
        if child.task is not None:
            self._outcomes.append(Returned(child.task.number))

    def _wake_sleepers(self) -> None:
        """Kill whoever has been silent for too long; that it is dead is read from its pipe."""
        now_s = time.monotonic()
        for child in self._children:
            patience_s = self._settings.stall_timeout_s if child.is_ready else self._settings.load_timeout_s
            if child.task is not None and now_s - child.silent_since_s > patience_s:
                child.has_overslept = True
                child.process.kill()
