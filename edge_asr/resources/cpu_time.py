"""CPU time: of the whole machine, and of one process with all its descendants.

Both come from the same clock ticks of the kernel, so that their difference is what everything else used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from edge_asr.resources.procfs import read_text

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class CpuTime:
    """Seconds since boot, of one core or of all together. Fields of ``/proc/stat``, proc_stat(5)."""

    busy_s: float
    """User, nice, system and interrupts; a guest's time is part of user."""
    idle_s: float
    """Idle and waiting for a disk."""
    stolen_s: float
    """Wanted by this virtual machine and given to another."""

    @property
    def total_s(self) -> float:
        """All of it."""
        return self.busy_s + self.idle_s + self.stolen_s

    def since(self, earlier: CpuTime) -> CpuTime:
        """What was added; never negative, although the kernel lets idle time go back by a tick."""
        return CpuTime(
            max(0.0, self.busy_s - earlier.busy_s),
            max(0.0, self.idle_s - earlier.idle_s),
            max(0.0, self.stolen_s - earlier.stolen_s),
        )


@dataclass(frozen=True, slots=True)
class MachineCpuTime:
    """CPU time of the machine."""

    total: CpuTime
    cores: Mapping[int, CpuTime]
    """By the kernel's number; cores that are offline are missing."""


def read_machine_cpu_time(root: Path = Path("/")) -> MachineCpuTime | None:
    """Times of all cores and of each; ``None`` where the kernel does not give them."""
    rows = dict(_stat_rows(read_text(root / "proc/stat") or ""))
    total = rows.pop("cpu", None)
    if total is None:
        return None
    return MachineCpuTime(total, {int(name.removeprefix("cpu")): time for name, time in rows.items()})


def _stat_rows(text: str) -> Iterator[tuple[str, CpuTime]]:
    for line in text.splitlines():
        name, *ticks = line.split()
        if name.startswith("cpu"):
            user, nice, system, idle, waiting, interrupt, soft_interrupt, stolen = (
                int(tick) / _TICKS_PER_S for tick in ticks[:8]
            )
            yield name, CpuTime(user + nice + system + interrupt + soft_interrupt, idle + waiting, stolen)


@dataclass(frozen=True, slots=True)
class ProcessTree:
    """A process and its living descendants."""

    pids: tuple[int, ...]
    cpu_s: float
    """User and system time of all of them, children that were waited for included; to a hundredth of a second.

    A descendant whose parent has ended without it belongs to nobody here, as in the kernel's own accounts.
    """


def read_process_tree(pid: int, root: Path = Path("/")) -> ProcessTree | None:
    """Find all descendants in one pass over the machine's processes; ``None`` when the process has ended."""
    processes = dict(_processes(root))
    if pid not in processes:
        return None
    children: dict[int, list[int]] = {}
    for process, fields in processes.items():
        children.setdefault(int(fields[_PARENT]), []).append(process)
    pids = [pid]
    for process in pids:
        pids += children.get(process, [])
    ticks = sum(int(each) for process in pids for each in processes[process][_TIMES])
    return ProcessTree(tuple(pids), ticks / _TICKS_PER_S)


def read_parent(pid: int, root: Path = Path("/")) -> int | None:
    """Who started a process; ``None`` when it has ended."""
    fields = _stat_fields(root / f"proc/{pid}/stat")
    return int(fields[_PARENT]) if fields else None


def read_cpu_s(pid: int, root: Path = Path("/")) -> float:
    """User and system time of a process, its children excluded; 0 when it has ended."""
    fields = _stat_fields(root / f"proc/{pid}/stat")
    return sum(int(each) for each in fields[_OWN_TIMES]) / _TICKS_PER_S if fields else 0.0


_PARENT = 1
_OWN_TIMES = slice(11, 13)
_TIMES = slice(11, 15)
"""utime, stime, cutime, cstime: fields 14 to 17 of proc_pid_stat(5), counted from the third."""


def _processes(root: Path) -> Iterator[tuple[int, list[str]]]:
    for folder in (root / "proc").iterdir():
        if folder.name.isdecimal() and (fields := _stat_fields(folder / "stat")) is not None:
            yield int(folder.name), fields


def _stat_fields(path: Path) -> list[str] | None:
    """The fields behind the name, which may itself hold spaces and parentheses; ``None`` when the process ended."""
    text = read_text(path)
    return text.rpartition(")")[2].split() if text else None
