"""Memory of a process and of the machine, as the kernel counts it; and giving free heap back to it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

from edge_asr.resources.cgroup import memory_headroom_bytes
from edge_asr.resources.procfs import kib_to_bytes, read_fields, read_text


@dataclass(frozen=True, slots=True)
class ProcessMemory:
    """What one process uses, in bytes."""

    resident_bytes: int
    """VmRSS: pages in memory, shared ones counted in full."""
    peak_resident_bytes: int
    """VmHWM: the highest VmRSS so far."""


def read_process_memory(pid: int, root: Path = Path("/")) -> ProcessMemory:
    """Figures of a running process; cheap enough for every scrape.

    Raises:
        ProcessLookupError: The process has ended.
    """
    fields = _process_fields(root / f"proc/{pid}/status", pid)
    if "VmRSS" not in fields:
        raise ProcessLookupError(f"process {pid} has ended")  # a zombie has a status but no memory
    return ProcessMemory(kib_to_bytes(fields["VmRSS"]), kib_to_bytes(fields["VmHWM"]))


def read_proportional_bytes(pid: int, root: Path = Path("/")) -> int:
    """PSS of a running process: shared pages divided by their users, so that processes add up.

    The kernel walks all its mappings for this (milliseconds): for ``status`` and measurements, not per chunk.

    Raises:
        ProcessLookupError: The process has ended.
        PermissionError: It belongs to somebody else.
    """
    return kib_to_bytes(_process_fields(root / f"proc/{pid}/smaps_rollup", pid)["Pss"])


def reset_peak(pid: int, root: Path = Path("/")) -> bool:
    """Start the peak of a process over from what it uses now, so that loading does not hide in a later peak.

    Returns:
        Whether the kernel did it; ``False`` when it forbids this or has no such file.
    """
    try:
        # proc_pid_clear_refs(5): 5 resets VmHWM. The file must exist already: nothing may be made in /proc.
        with (root / f"proc/{pid}/clear_refs").open("r+", encoding="ascii") as file:
            file.write("5")
    except OSError:
        return False
    return True


def _process_fields(path: Path, pid: int) -> dict[str, str]:
    try:
        return read_fields(path)
    except (FileNotFoundError, ProcessLookupError) as error:
        raise ProcessLookupError(f"process {pid} has ended") from error


def total_bytes(root: Path = Path("/")) -> int | None:
    """Memory of the machine that the kernel may use; ``None`` where it does not say."""
    text = read_text(root / "proc/meminfo")
    return kib_to_bytes(read_fields(root / "proc/meminfo")["MemTotal"]) if text else None


def available_bytes(root: Path = Path("/")) -> int:
    """Memory that can be used without swapping: the machine's, or what is left of a tighter control group."""
    machine = kib_to_bytes(read_fields(root / "proc/meminfo")["MemAvailable"])
    group = memory_headroom_bytes(root)
    return machine if group is None else max(0, min(machine, group))


def read_oom_kills(root: Path = Path("/")) -> int | None:
    """Processes that the kernel has ended for want of memory since the start, in control groups too.

    Returns:
        ``None`` where the kernel does not count them (before 4.13).
    """
    lines = (line.split() for line in (read_text(root / "proc/vmstat") or "").splitlines())
    return next((int(value) for name, value in lines if name == "oom_kill"), None)


def trim_heap() -> bool:
    """Give free heap pages back to the kernel; loading a model leaves many.

    Returns:
        Whether anything was given back; ``False`` too where the C library cannot (musl).
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return bool(trim(0)) if trim is not None else False
