"""What the kernel says about processes."""

from __future__ import annotations

import os
from pathlib import Path


def children() -> set[int]:
    """Processes whose parent is this one, zombies included."""
    return {int(path.parent.name) for path in Path("/proc").glob("[0-9]*/stat") if _parent(path) == os.getpid()}


def _parent(stat: Path) -> int:
    """Parent of a process; 0 when the process has ended meanwhile."""
    try:
        text = stat.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(text.rpartition(")")[2].split()[1])  # the name before it may hold anything


def is_running(pid: int) -> bool:
    """Whether there is such a process, be it a zombie."""
    return Path(f"/proc/{pid}").exists()


def descriptors(pid: int) -> int:
    """Files and sockets it has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def threads(pid: int) -> list[str]:
    """Names of its threads."""
    return [path.read_text(encoding="utf-8").strip() for path in Path(f"/proc/{pid}/task").glob("*/comm")]


def oom_score(pid: int) -> int:
    """How readily the kernel ends it when memory runs out."""
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text(encoding="ascii"))
