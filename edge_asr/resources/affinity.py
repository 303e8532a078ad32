"""Pinning this process to cores, and the proof that every thread of a process stays there.

Threads inherit the mask of the thread that makes them, so the mask must stand before any library makes one; native
pools that pin themselves can still escape, which is why :func:`escaped_threads` reads what the kernel really does.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from edge_asr.errors import ConfigurationError
from edge_asr.resources.procfs import parse_cpu_list, read_fields


def pin_to(cpus: Collection[int]) -> None:
    """Restrict the calling thread, and every thread it starts from now on, to these cores.

    Raises:
        ConfigurationError: Some of the cores do not exist, are offline or are not allowed here. The kernel would
            silently use the others.
    """
    wanted = frozenset(cpus)
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, wanted)
        missing = wanted - os.sched_getaffinity(0)
    except (OSError, OverflowError):
        missing = wanted
    if missing:
        raise ConfigurationError(
            f"worker.cpus = {sorted(wanted)}: cannot use {sorted(missing)} here; this process may use {sorted(before)}"
        )


def thread_masks(pid: int, root: Path = Path("/")) -> Mapping[int, frozenset[int]]:
    """The cores each thread of a process may run on, by thread id; threads that end meanwhile are left out.

    Raises:
        FileNotFoundError: There is no such process.
    """
    masks = {}
    for task in (root / f"proc/{pid}/task").iterdir():
        try:
            masks[int(task.name)] = parse_cpu_list(read_fields(task / "status")["Cpus_allowed_list"])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return masks


def escaped_threads(pid: int, cpus: Collection[int], root: Path = Path("/")) -> Mapping[int, frozenset[int]]:
    """The threads of a process that may run outside the given cores, with their masks; empty when pinning holds."""
    allowed = frozenset(cpus)
    return {tid: mask for tid, mask in thread_masks(pid, root).items() if not mask <= allowed}
