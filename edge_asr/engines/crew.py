"""Threads that decode streams side by side: native code releases the interpreter's lock, so they really do.

A stream is used by one thread at a time; a model may be used by several at once. One copy of the weights serves all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")


class Crew:
    """The calling thread and its helpers, which inherit its cores.

    Args:
        size: Threads in all, at least 1.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._helpers = ThreadPoolExecutor(size - 1, thread_name_prefix="decode") if size > 1 else None

    def share(self, work: Callable[[Sequence[T]], None], items: Sequence[T]) -> None:
        """Let each thread work on a part of the items; returns when all are done.

        Raises:
            Exception: What ``work`` raised first, in the order of the parts; the other parts are done all the same.
        """
        parts = [part for first in range(self.size) if (part := items[first :: self.size])]
        if self._helpers is None or len(parts) < 2:
            work(items)
            return
        helping = [self._helpers.submit(work, part) for part in parts[1:]]
        try:
            work(parts[0])
        finally:
            wait(helping)
        for help_ in helping:
            help_.result()

    def close(self) -> None:
        """End the helpers; no more work can be shared."""
        if self._helpers is not None:
            self._helpers.shutdown()
