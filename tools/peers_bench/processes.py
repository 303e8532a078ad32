"""What a peer's processes use, and what else ran on the machine meanwhile."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from edge_asr.resources.cpu_time import read_machine_cpu_time, read_process_tree
from edge_asr.resources.memory import read_process_memory

ROOT = Path("/")


def tree_cpu_s(pid: int, root: Path = ROOT) -> float:
    """User and system time of a process and its descendants so far."""
    tree = read_process_tree(pid, root)
    return tree.cpu_s if tree else 0.0


def peak_memory_bytes(pid: int, root: Path = ROOT) -> int:
    """The peaks (VmHWM) of the processes of a tree, added up."""
    peak, tree = 0, read_process_tree(pid, root)
    for process in tree.pids if tree else ():
        try:
            peak += read_process_memory(process, root).peak_resident_bytes
        except ProcessLookupError:
            continue  # it ended meanwhile
    return peak


@dataclass(frozen=True, slots=True)
class MachineUse:
    """The machine's processor time at one moment."""

    at_s: float
    busy_s: float
    stolen_s: float
    ours_s: float
    """Of this process and everything it started."""


def machine_use(root: Path = ROOT) -> MachineUse:
    """Read it now; zeros where the kernel does not tell."""
    machine = read_machine_cpu_time(root)
    return MachineUse(
        at_s=time.monotonic(),
        busy_s=machine.total.busy_s if machine else 0.0,
        stolen_s=machine.total.stolen_s if machine else 0.0,
        ours_s=tree_cpu_s(os.getpid(), root),
    )


def foreign_share(before: MachineUse, after: MachineUse, cores: int) -> float:
    """Share of the machine's processor time that went to others, between two readings; stolen time is theirs too."""
    elapsed_s = (after.at_s - before.at_s) * cores
    used_s = (after.busy_s - before.busy_s) + (after.stolen_s - before.stolen_s) - (after.ours_s - before.ours_s)
    return max(0.0, used_s / elapsed_s) if elapsed_s > 0 else 0.0
