"""Whether the clock on the wall can be believed: a board without a battery starts in the past."""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass

_TIMEX_BYTES = 512
"""More than ``struct timex`` has on any architecture; with ``modes`` 0 the kernel only fills it."""
_UNSYNCHRONISED = 5
"""``TIME_ERROR`` of adjtimex(2)."""


@dataclass(frozen=True, slots=True)
class WallClock:
    """The machine's date."""

    unix_s: float
    is_synchronised: bool | None
    """By the kernel's own account, which every time service keeps; ``None`` where it cannot be asked."""


def read_wall_clock() -> WallClock:
    """The date now, and whether a time service keeps it."""
    ask = getattr(ctypes.CDLL(None), "adjtimex", None)
    state = ask(ctypes.create_string_buffer(_TIMEX_BYTES)) if ask is not None else -1
    return WallClock(time.time(), None if state < 0 else state != _UNSYNCHRONISED)
