"""How many workers a machine's memory is enough for, from moment to moment. Pure."""

from __future__ import annotations

from dataclasses import dataclass

_MOST_RESERVE_BYTES = 512 << 20


@dataclass(frozen=True, slots=True)
class MemoryValve:
    """Keeps a reserve free: for the daemon, for the page cache, for everybody else on the machine."""

    worker_bytes: int
    """What a worker takes, estimated from its model."""
    reserve_bytes: int

    @classmethod
    def for_machine(cls, worker_bytes: int, total_bytes: int) -> MemoryValve:
        """An eighth of the machine's memory stays free, 512 MiB at most."""
        return cls(worker_bytes, min(_MOST_RESERVE_BYTES, total_bytes // 8))

    def is_short(self, available_bytes: int) -> bool:
        """Whether workers without work should give their memory back, and nothing should be begun."""
        return available_bytes < self.reserve_bytes

    def more_workers(self, available_bytes: int, loading: int) -> int:
        """How many can be started, beside those that are loading and have not taken their share yet."""
        free_bytes = available_bytes - self.reserve_bytes - loading * self.worker_bytes
        return max(0, free_bytes // self.worker_bytes)
