"""When a worker takes too much memory: at the soft limit it is replaced, at the hard one it gets no sessions; pure.

The kernel's own limits come on top where it lets us set them; a Raspberry Pi comes with them switched off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edge_asr.settings import NumberOrAuto

Pressure = Literal["none", "soft", "hard"]

AUTO_FACTOR = 2.0
AUTO_LEAST_BYTES = 128 << 20
"""``auto``: so many times what the worker takes when it is ready, and at least so much more: streams, audio that waits
and the runtime's buffers for the longest recording all come later."""

AUTO_MOST_SHARE = 0.8
"""Of the memory that is left on the machine: better we act than the kernel."""

SOFT_SHARE = 0.75
"""Of the way from what it takes when it is ready to the hard limit."""


@dataclass(frozen=True, slots=True)
class MemoryBounds:
    """Resident memory of one worker, bytes."""

    soft: int
    hard: int

    def pressure(self, resident_bytes: int) -> Pressure:
        """Which of the two it has reached."""
        if resident_bytes >= self.hard:
            return "hard"
        return "soft" if resident_bytes >= self.soft else "none"


def memory_bounds(limit_mib: NumberOrAuto, ready_bytes: int, available_bytes: int) -> MemoryBounds | None:
    """The limits of a worker; ``None`` for none.

    Args:
        limit_mib: ``worker.memory_limit_mib``.
        ready_bytes: What it takes when it is ready; a limit below that leaves no room at all.
        available_bytes: What can be used besides without swapping.
    """
    if limit_mib == 0:
        return None
    if limit_mib == "auto":
        wanted = max(round(AUTO_FACTOR * ready_bytes), ready_bytes + AUTO_LEAST_BYTES)
        hard = min(wanted, ready_bytes + round(AUTO_MOST_SHARE * available_bytes))
    else:
        hard = limit_mib << 20
    return MemoryBounds(min(hard, ready_bytes + round(SOFT_SHARE * max(0, hard - ready_bytes))), hard)
