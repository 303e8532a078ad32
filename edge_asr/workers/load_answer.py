"""What a worker says of the model it was told to load: that it is ready, why not, or nothing in time. Asyncio."""

from __future__ import annotations

import asyncio
from typing import Any

from edge_asr.errors import EdgeAsrError, LoadInterrupted, MachineError, ModelUnsupported, error_of
from edge_asr.workers.messages import LoadFailed, Ready
from edge_asr.workers.process import WorkerProcess


class LoadAnswer:
    """Of one process.

    Args:
        directory: The model's.
        timeout_s: How long it is waited for.
        is_reload: Whether the model was loaded before, so that time is no reason to doubt it.
    """

    def __init__(self, directory: str, timeout_s: float, *, is_reload: bool) -> None:
        self._directory = directory
        self._timeout_s = timeout_s
        self._is_reload = is_reload
        self._said: asyncio.Future[Ready | LoadFailed] = asyncio.get_running_loop().create_future()

    def take(self, answer: Ready | LoadFailed) -> None:
        """It has come; a second one is passed over."""
        if not self._said.done():
            self._said.set_result(answer)

    async def of(self, process: WorkerProcess) -> Ready:
        """Wait for the answer of a process that was told what to load.

        Raises:
            LoadInterrupted: It was killed, or takes too long although the model was loaded before.
            ModelError: The model cannot be loaded.
            MachineError: The provider or the machine cannot do it.
        """
        end = asyncio.create_task(process.ended())
        waiting: set[asyncio.Future[Any]] = {self._said, end}
        try:
            await asyncio.wait(waiting, timeout=self._timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if self._said.done():
                return _ready(self._said.result())
            raise self._killed(end.result()) if end.done() else self._too_late()
        finally:
            end.cancel()

    def _killed(self, reason: str) -> EdgeAsrError:
        """A process that ended while it loaded: the engine did not like the model, or the machine was too small."""
        if "SIGKILL" in reason:
            return LoadInterrupted(self._directory, reason)
        return ModelUnsupported(self._directory, f"the engine ended its process while loading it: {reason}")

    def _too_late(self) -> EdgeAsrError:
        if self._is_reload:
            return LoadInterrupted(self._directory, f"it was not loaded within {self._timeout_s:.0f} s")
        return MachineError(
            f"model {self._directory} was not loaded within {self._timeout_s:.0f} s; "
            "raise worker.load_timeout_s if this machine is slow"
        )


def _ready(answer: Ready | LoadFailed) -> Ready:
    if isinstance(answer, LoadFailed):
        raise error_of(answer.code, answer.message)
    return answer
