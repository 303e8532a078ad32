"""The memory limit of the control group this process lives in, versions 1 and 2.

Raspberry Pi OS starts with the memory controller switched off, and then there is no limit whatever a unit file says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edge_asr.resources.procfs import read_int, read_text

_NO_LIMIT_BYTES = 1 << 60
"""Version 1 writes "no limit" as a number just below 2**63."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where one version keeps its figures."""

    mounts: tuple[str, ...]
    limit: str
    usage: str
    reclaimable: str
    """Key of ``memory.stat``: file cache that the kernel drops before it kills anything."""


_VERSION_1 = _Layout(("sys/fs/cgroup/memory",), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_VERSION_2 = _Layout(("sys/fs/cgroup", "sys/fs/cgroup/unified"), "memory.max", "memory.current", "inactive_file")


def memory_limit_bytes(root: Path = Path("/")) -> int | None:
    """The tightest memory limit over this process, of its own group or of one above; ``None`` when there is none."""
    return min((limit for _, _, limit in _limited_groups(root)), default=None)


def memory_headroom_bytes(root: Path = Path("/")) -> int | None:
    """How much may still be used before a limit is reached; ``None`` when there is no limit."""
    return min((limit - _used_bytes(group, layout) for group, layout, limit in _limited_groups(root)), default=None)


def _used_bytes(group: Path, layout: _Layout) -> int:
    """Memory in use that cannot simply be dropped."""
    statistics = (line.split() for line in (read_text(group / "memory.stat") or "").splitlines())
    reclaimable = {name: int(value) for name, value in statistics}.get(layout.reclaimable, 0)
    return max(0, (read_int(group / layout.usage) or 0) - reclaimable)


def _limited_groups(root: Path) -> Iterator[tuple[Path, _Layout, int]]:
    for mount, path, layout in _memberships(root):
        group = mount / path
        if not group.is_dir():
            group = mount  # inside a container the path is the host's, and the mount shows our own group
        while group.is_relative_to(mount):
            limit = read_int(group / layout.limit)
            if limit is not None and limit < _NO_LIMIT_BYTES:
                yield group, layout, limit
            group = group.parent


def _memberships(root: Path) -> Iterator[tuple[Path, str, _Layout]]:
    """Mount, path below it and layout of each hierarchy that may hold our memory limit."""
    for line in (read_text(root / "proc/self/cgroup") or "").splitlines():
        number, controllers, path = line.split(":", maxsplit=2)
        if number == "0":
            layout = _VERSION_2
        elif "memory" in controllers.split(","):
            layout = _VERSION_1
        else:
            continue
        yield from ((root / mount, path.lstrip("/"), layout) for mount in layout.mounts if (root / mount).is_dir())
