"""Workers of a Dask cluster as a crew; the one door to Dask."""

from __future__ import annotations

import queue
import time
import uuid
from collections.abc import Callable
from typing import Any

from distributed import Client, Future, KilledWorker

from edge_asr.batch.messages import Lost, Order, Outcome, Task, Unfit
from edge_asr.cli.batch_worker import hear_here
from edge_asr.errors import MachineError, error_of

CONNECT_TIMEOUT_S = 20
TASKS_PER_WORKER = 2
"""Given out at a time: one that is heard and one that waits, so that the scheduler never holds more than a few."""

_COUNT_EVERY_S = 1.0


class ClusterCrew:
    """The workers that a scheduler has at the moment; they may come and go."""

    def __init__(self, address: str, order: Order, *, hear: Callable[[Order, Task], Any] = hear_here) -> None:
        """Connect.

        Args:
            address: Of the scheduler.
            order: What each worker is to hear with.
            hear: Runs in the workers; replaced by tests.

        Raises:
            MachineError: Nobody answers there.
        """
        self._address = address
        self._order = order
        self._hear = hear
        self._run = uuid.uuid4().hex[:8]
        self._out: dict[str, tuple[Future, Task]] = {}
        """Given out, by key; Dask drops the work of a future that nobody holds."""
        self._futures: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._given = 0
        self._workers = 0
        self._most_workers = 0
        self._counted_s = -_COUNT_EVERY_S
        try:
            self._client = Client(address, timeout=CONNECT_TIMEOUT_S, set_as_default=False, name="edge-asr batch")
        except (OSError, ValueError) as error:  # distributed's time-outs are OSErrors
            raise MachineError(
                f"no Dask scheduler answers at {address} ({error}); is `dask scheduler` running?"
            ) from error

    @property
    def description(self) -> str:
        """Who works, for people."""
        return f"{self._most_workers} workers of the Dask scheduler at {self._address}"

    def room(self) -> int:
        """Tasks for the workers that are not paused for lack of memory; without any, one for the scheduler to keep."""
        if time.monotonic() - self._counted_s >= _COUNT_EVERY_S:
            self._count_workers()
        return max(1, TASKS_PER_WORKER * self._workers) - len(self._out)

    def give(self, task: Task) -> None:
        """Hand it to the scheduler."""
        self._given += 1
        # A key of its own for each attempt: Dask remembers what became of a key.
        key = f"edge-asr-{self._run}-{task.number}-{self._given}"
        future = self._client.submit(self._hear, self._order, task, key=key, pure=False)
        self._out[key] = (future, task)
        future.add_done_callback(self._futures.put)

    def next(self, timeout_s: float) -> Outcome | None:
        """What became of a task.

        Raises:
            EdgeAsrError: A worker cannot hear with this model, or the scheduler is gone.
        """
        try:
            future = self._futures.get(timeout=timeout_s)
        except queue.Empty:
            if self._client.status != "running":
                raise self._scheduler_gone() from None
            return None
        _, task = self._out.pop(future.key)
        return self._outcome(future, task)

    def close(self) -> None:
        """Cancel what is given out and disconnect; the cluster stays."""
        self._client.close(timeout=5)

    def _outcome(self, future: Future, task: Task) -> Outcome:
        if future.status == "cancelled":
            raise self._scheduler_gone()
        try:
            answer = future.result()
        except KilledWorker as error:
            return Lost(task.number, f"last of them {error.last_worker.address}")
        if isinstance(answer, Unfit):
            raise error_of(answer.code, answer.message)
        outcome: Outcome = answer
        return outcome

    def _count_workers(self) -> None:
        self._counted_s = time.monotonic()
        try:
            self._workers = len(self._client.nthreads())
        except OSError as error:
            raise self._scheduler_gone() from error
        self._most_workers = max(self._most_workers, self._workers)

    def _scheduler_gone(self) -> MachineError:
        return MachineError(f"the Dask scheduler at {self._address} is gone")
