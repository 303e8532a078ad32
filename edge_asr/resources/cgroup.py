"""The control groups this process lives in, versions 1 and 2: their memory limit, their peak, and lost CPU time.

Raspberry Pi OS starts with the memory controller switched off, and then there is no limit whatever a unit file says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from edge_asr.resources.procfs import read_int, read_text

Controller = Literal["memory", "cpu"]

_NO_LIMIT_BYTES = 1 << 60
"""Version 1 writes "no limit" as a number just below 2**63."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where one version keeps its figures."""

    memory_limit: str
    memory_usage: str
    memory_peak: str
    reclaimable: str
    """Key of ``memory.stat``: file cache that the kernel drops before it kills anything."""
    throttled_time: str
    """Key of ``cpu.stat``."""
    throttled_time_per_s: float
    """Its unit."""


_VERSION_1 = _Layout(
    memory_limit="memory.limit_in_bytes",
    memory_usage="memory.usage_in_bytes",
    memory_peak="memory.max_usage_in_bytes",
    reclaimable="total_inactive_file",
    throttled_time="throttled_time",
    throttled_time_per_s=1e9,
)
_VERSION_2 = _Layout(
    memory_limit="memory.max",
    memory_usage="memory.current",
    memory_peak="memory.peak",
    reclaimable="inactive_file",
    throttled_time="throttled_usec",
    throttled_time_per_s=1e6,
)
_VERSION_2_MOUNTS = ("sys/fs/cgroup", "sys/fs/cgroup/unified")


@dataclass(frozen=True, slots=True)
class CpuThrottling:
    """How often and how long a CPU quota held this process back, since its groups were made."""

    periods: int
    stopped_s: float
    """Summed over the cores."""


def memory_limit_bytes(root: Path = Path("/")) -> int | None:
    """The tightest memory limit over this process, of its own group or of one above; ``None`` when there is none."""
    return min((limit for _, _, limit in _limited_groups(root)), default=None)


def memory_headroom_bytes(root: Path = Path("/")) -> int | None:
    """How much may still be used before a limit is reached; ``None`` when there is no limit."""
    return min((limit - _used_bytes(group, layout) for group, layout, limit in _limited_groups(root)), default=None)


def memory_peak_bytes(root: Path = Path("/")) -> int | None:
    """The most that the group of this process ever used, file cache included; ``None`` where no group counts it."""
    peaks = (read_int(group / layout.memory_peak) for group, layout in _groups("memory", root))
    return next((peak for peak in peaks if peak is not None), None)


def has_memory_controller(root: Path = Path("/")) -> bool | None:
    """Whether this kernel can limit memory at all; ``None`` where there are no control groups."""
    unified = [
        text for mount in _VERSION_2_MOUNTS if (text := read_text(root / mount / "cgroup.controllers")) is not None
    ]
    if not unified and not (root / "sys/fs/cgroup/memory").is_dir():
        return None if read_text(root / "proc/self/cgroup") is None else False
    return any("memory" in text.split() for text in unified) or (root / "sys/fs/cgroup/memory").is_dir()


def own_group(root: Path = Path("/")) -> str:
    """The path of our group, such as ``/system.slice/edge-asr.service``; empty where there are none.

    Where version 1 is mounted too, systemd keeps its groups in a hierarchy of that name.
    """
    rows = [line.split(":", maxsplit=2) for line in (read_text(root / "proc/self/cgroup") or "").splitlines()]
    paths = {controllers: path for _, controllers, path in rows}
    return paths.get("name=systemd") or paths.get("", "")


def read_cpu_throttling(root: Path = Path("/")) -> CpuThrottling | None:
    """What the quotas of our group and of those above cost so far; ``None`` where no group counts it."""
    counted = [
        (int(fields["nr_throttled"]), int(fields[layout.throttled_time]) / layout.throttled_time_per_s)
        for group, layout in _groups("cpu", root)
        if {"nr_throttled", layout.throttled_time} <= (fields := _statistics(group / "cpu.stat")).keys()
    ]
    if not counted:
        return None
    return CpuThrottling(sum(periods for periods, _ in counted), sum(stopped_s for _, stopped_s in counted))


def _used_bytes(group: Path, layout: _Layout) -> int:
    """Memory in use that cannot simply be dropped."""
    reclaimable = int(_statistics(group / "memory.stat").get(layout.reclaimable, 0))
    return max(0, (read_int(group / layout.memory_usage) or 0) - reclaimable)


def _statistics(path: Path) -> dict[str, str]:
    rows = (line.split(maxsplit=1) for line in (read_text(path) or "").splitlines())
    return {row[0]: row[1] for row in rows if len(row) > 1}


def _limited_groups(root: Path) -> Iterator[tuple[Path, _Layout, int]]:
    for group, layout in _groups("memory", root):
        limit = read_int(group / layout.memory_limit)
        if limit is not None and limit < _NO_LIMIT_BYTES:
            yield group, layout, limit


def _groups(controller: Controller, root: Path) -> Iterator[tuple[Path, _Layout]]:
    """Our own group in each hierarchy that may have this controller, and all groups above it."""
    for mount, path, layout in _memberships(controller, root):
        group = mount / path
        if not group.is_dir():
            group = mount  # inside a container the path is the host's, and the mount shows our own group
        while group.is_relative_to(mount):
            yield group, layout
            group = group.parent


def _memberships(controller: Controller, root: Path) -> Iterator[tuple[Path, str, _Layout]]:
    """Mount, path below it and layout of each hierarchy that may have this controller."""
    mounts: tuple[str, ...]
    for line in (read_text(root / "proc/self/cgroup") or "").splitlines():
        number, controllers, path = line.split(":", maxsplit=2)
        if number == "0":
            mounts, layout = _VERSION_2_MOUNTS, _VERSION_2
        elif controller in controllers.split(","):
            # systemd mounts cpu and cpuacct together and links the single names to it
            mounts, layout = (f"sys/fs/cgroup/{controller}",), _VERSION_1
        else:
            continue
        yield from ((root / mount, path.lstrip("/"), layout) for mount in mounts if (root / mount).is_dir())
