"""Whose audio native code is looking at, readable after the process has died of it.

A page of memory shared by the front and a worker: the worker writes the sessions of each native call into it and
clears it afterwards; the front reads it when the worker has ended. No system call, so it costs nothing per step.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence

SIZE_BYTES = mmap.PAGESIZE
_SEPARATOR = b"\n"
_END = b"\0"


class BlackBoxWriter:
    """The worker's side.

    Args:
        descriptor: Of the shared page; closed once it is mapped.
    """

    def __init__(self, descriptor: int) -> None:
        self._page = mmap.mmap(descriptor, SIZE_BYTES)
        os.close(descriptor)

    def write(self, session_ids: Sequence[str]) -> None:
        """These sessions' audio is about to be looked at; ``()``: nobody's is."""
        text = _SEPARATOR.join(name.encode("ascii") for name in session_ids)[: SIZE_BYTES - 1]
        # The end mark first: whatever is read meanwhile is a beginning of the list, never the rest of an older one.
        self._page[len(text)] = 0
        self._page[: len(text)] = text


class BlackBox:
    """The front's side; :meth:`close` when the worker has ended and was read."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("edge-asr-black-box")
        os.ftruncate(self.descriptor, SIZE_BYTES)

    def read(self) -> frozenset[str]:
        """The sessions whose audio native code was looking at last."""
        text = os.pread(self.descriptor, SIZE_BYTES, 0).partition(_END)[0]
        return frozenset(name.decode("ascii", errors="replace") for name in text.split(_SEPARATOR) if name)

    def close(self) -> None:
        """Free it; closing twice is allowed."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
