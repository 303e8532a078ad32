"""What another model makes of a segment: done at once, or under way on a thread that gives way to others."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar

GIVING_WAY = 10
"""Niceness of the thread: a tenth of what an ordinary one gets when both want the same core."""

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Pass(Protocol[Result_co]):
    """One segment on its way."""

    @property
    def is_done(self) -> bool:
        """Whether there is a :attr:`result`, or will never be one."""
        ...

    @property
    def result(self) -> Result_co | None:
        """What came of it; ``None`` where nothing did."""
        ...

    def give_up(self) -> None:
        """Nobody waits for it any more."""
        ...


class Done(Generic[Result]):
    """A pass that is over."""

    is_done = True

    def __init__(self, result: Result | None) -> None:
        self.result = result

    def give_up(self) -> None:
        """It is done."""


class Underway(Generic[Result]):
    """A pass on a thread."""

    def __init__(self, future: Future[Result | None]) -> None:
        self._future = future

    @property
    def is_done(self) -> bool:
        """Whether it has run, or was given up before."""
        return self._future.done()

    @property
    def result(self) -> Result | None:
        """What came of it; waits for it."""
        return None if self._future.cancelled() else self._future.result()

    def give_up(self) -> None:
        """Do not begin it, if it has not begun."""
        self._future.cancel()


def background_thread(name: str) -> ThreadPoolExecutor:
    """A thread for passes, one after the other, that gives way to the decoding of words."""
    return ThreadPoolExecutor(1, thread_name_prefix=name, initializer=_give_way)


def _give_way() -> None:
    """Lower the priority of this thread."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), GIVING_WAY)
