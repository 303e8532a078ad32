"""The worker's own memory: what it takes, after what is free has been given back to the kernel."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable

from edge_asr.resources.memory import read_process_memory, trim_heap

TRIM_EVERY_BYTES = 8 << 20
"""Growth after which the heap is trimmed. The C library keeps what is freed in the middle of it: what waiting audio or
a long recording took at its peak would count for ever."""

LONGEST_PAUSE = 11
"""Times that trimming is left out after it gave nothing back."""


def own_resident_bytes() -> int:
    """Resident memory of this process."""
    return read_process_memory(os.getpid()).resident_bytes


def keep_what_was_loaded() -> None:
    """Collect cycles, and look for none in what is there now until some session brings a very large set of commands.

    With Home Assistant's sentences and a thousand names these are 650,000 objects, and looking at them once more, soon
    after the first commands, kept all sessions waiting for 0.3 s (CPython 3.11, x86-64 beside other work, 2026-11-30).
    """
    gc.collect()
    gc.freeze()


class Heap:
    """Asked once a second; trims when the process has grown since it was trimmed last, and once its work is done.

    Args:
        read: What this process takes.
        trim: Gives free pages back.
    """

    def __init__(self, read: Callable[[], int] = own_resident_bytes, trim: Callable[[], bool] = trim_heap) -> None:
        self._read = read
        self._trim = trim
        self._least_ever_bytes = self._least_bytes = read()

    def resident_bytes(self, *, is_idle: bool = False) -> int:
        """What the process takes now.

        Args:
            is_idle: Whether the last session has ended: what all of them took at their peak is free now.
        """
        taken = self._read()
        grown_from = self._least_ever_bytes if is_idle else self._least_bytes
        if taken > grown_from + TRIM_EVERY_BYTES:
            self._trim()
            taken = self._least_bytes = self._read()
        self._least_bytes = min(self._least_bytes, taken)
        self._least_ever_bytes = min(self._least_ever_bytes, taken)
        return taken


class Tidying:
    """Asked from time to time by a process whose need comes and goes; trims while it takes more than it once did.

    Args:
        read: What this process takes.
        trim: Gives free pages back.
    """

    def __init__(self, read: Callable[[], int] = own_resident_bytes, trim: Callable[[], bool] = trim_heap) -> None:
        self._read = read
        self._trim = trim
        self._least_bytes = read()
        self._pause = self._pauses = 0

    def tidy(self) -> None:
        """Trim if there may be something to give back; where there is not, less and less often."""
        if self._pause:
            self._pause -= 1
            return
        taken = self._read()
        self._least_bytes = min(self._least_bytes, taken)
        if taken <= self._least_bytes + TRIM_EVERY_BYTES:
            return
        self._trim()
        gave_back = self._read() < taken - TRIM_EVERY_BYTES // 4
        self._pauses = 0 if gave_back else min(LONGEST_PAUSE, 2 * self._pauses + 1)
        self._pause = self._pauses
