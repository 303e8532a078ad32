"""Thousands of connections that break off: what the daemon holds open and in memory must not grow."""

from __future__ import annotations

import asyncio
import statistics
from dataclasses import asdict, dataclass
from typing import Any

from tools.protocol_table.daemon import Daemon
from tools.protocol_table.program import Program
from tools.protocol_table.recording import Recording

WARM_UP = 300
"""Connections after which buffers and caches have their size."""

TOGETHER = 8
"""Connections at a time; fewer than there are sessions, so that none is refused."""

MAX_GROWTH_BYTES = 8 << 20
MAX_NEW_DESCRIPTORS = 3


@dataclass(frozen=True)
class Growth:
    """Before and after."""

    protocol: str
    cycles: int
    descriptors_before: int
    descriptors_after: int
    memory_before_bytes: int
    memory_after_bytes: int

    @property
    def is_ok(self) -> bool:
        """Whether both stayed where they were."""
        return (
            self.descriptors_after - self.descriptors_before <= MAX_NEW_DESCRIPTORS
            and self.memory_after_bytes - self.memory_before_bytes <= MAX_GROWTH_BYTES
        )

    def document(self) -> dict[str, Any]:
        """For ``--json``."""
        return {"ok": self.is_ok, **asdict(self)}

    def sentence(self) -> str:
        """For people."""
        before, after = self.memory_before_bytes / 1e6, self.memory_after_bytes / 1e6
        return (
            f"{self.protocol}: {self.cycles} connections: {self.descriptors_before} -> {self.descriptors_after} "
            f"descriptors, {before:.1f} -> {after:.1f} MB{'' if self.is_ok else '   GROWS'}"
        )


async def drop_connections(program: Program, daemon: Daemon, recording: Recording, cycles: int) -> Growth:
    """Connect, send some audio, be gone; after a warm-up, so often."""
    await _drop(program, daemon, recording, WARM_UP)
    before = await _holds(daemon)
    await _drop(program, daemon, recording, cycles)
    after = await _holds(daemon)
    return Growth(program.protocol, cycles, before[0], after[0], before[1], after[1])


async def _drop(program: Program, daemon: Daemon, recording: Recording, times: int) -> None:
    left = times
    while left:
        together = min(TOGETHER, left)
        await asyncio.gather(*(program.drop(daemon, recording) for _ in range(together)))
        left -= together


async def _holds(daemon: Daemon) -> tuple[int, int]:
    await asyncio.to_thread(daemon.wait_until_idle)
    memory = statistics.median([await asyncio.to_thread(daemon.memory_bytes) for _ in range(3)])
    return daemon.descriptors(), round(memory)
