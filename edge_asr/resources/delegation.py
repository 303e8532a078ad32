"""Control groups of our own, version 2: where the service manager has delegated ours, each worker gets one below it.

systemd does so with ``Delegate=memory`` in the unit. The kernel wants processes only in the leaves, so this process
moves into a group ``front`` first. Where nothing is delegated, or there is only version 1, nothing happens.
https://docs.kernel.org/admin-guide/cgroup-v2.html
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from edge_asr.resources.procfs import read_text

_MOUNT = "sys/fs/cgroup"
_FRONT = "front"

_logger = logging.getLogger(__name__)


class WorkerGroup:
    """The group of one worker, which joins it by itself.

    Args:
        path: Its directory, which exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def limit(self, high_bytes: int, max_bytes: int) -> None:
        """Slow the worker down from ``high_bytes`` on; from ``max_bytes`` on the kernel ends it, and nobody else."""
        for name, value in (("memory.high", high_bytes), ("memory.max", max_bytes), ("memory.oom.group", 1)):
            try:
                (self.path / name).write_text(str(value), encoding="ascii")
            except OSError as error:
                _logger.warning("the memory of %s cannot be limited (%s): %s", self.path.name, name, error.strerror)

    @property
    def oom_kills(self) -> int:
        """How often the kernel has ended a process in it for lack of memory."""
        rows = (line.split() for line in (read_text(self.path / "memory.events") or "").splitlines())
        return next((int(row[1]) for row in rows if row[:1] == ["oom_kill"] and len(row) > 1), 0)

    def remove(self) -> None:
        """Its worker has ended."""
        try:
            self.path.rmdir()
        except OSError as error:
            _logger.debug("%s stays: %s", self.path, error)


class DelegatedGroup:
    """Our own group, below which we may make others.

    Args:
        path: Its directory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, name: str) -> WorkerGroup | None:
        """A group for a worker; ``None`` where the kernel refuses."""
        path = self.path / name
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            _logger.warning("no control group for %s: %s", name, error.strerror)
            return None
        return WorkerGroup(path)


def take_delegated_group(root: Path = Path("/")) -> DelegatedGroup | None:
    """Make our group one of groups: this process moves into ``front``, and memory can be limited beside it.

    Returns:
        ``None`` where groups are not delegated to us, memory cannot be limited, or the kernel is of version 1.
    """
    path = _own_path(root)
    if path is None or "memory" not in (read_text(path / "cgroup.controllers") or "").split():
        return None
    if not os.access(path / "cgroup.subtree_control", os.W_OK) or not os.access(path, os.W_OK):
        return None
    try:
        (path / _FRONT).mkdir(exist_ok=True)
        (path / _FRONT / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
        (path / "cgroup.subtree_control").write_text("+memory", encoding="ascii")
    except OSError as error:
        _logger.warning("our control group %s is delegated and cannot be divided: %s", path, error)
        return None
    return DelegatedGroup(path)


def _own_path(root: Path) -> Path | None:
    """Our group's directory; ``None`` without version 2. A service that was started anew is still in ``front``."""
    for line in (read_text(root / "proc/self/cgroup") or "").splitlines():
        number, _, path = line.split(":", maxsplit=2)
        if number == "0":
            below = path.lstrip("/").removesuffix(f"/{_FRONT}")
            group = root / _MOUNT / below
            return group if (group / "cgroup.controllers").is_file() else None
    return None
