"""What the kernel says about processes."""

from __future__ import annotations

from pathlib import Path


def children() -> set[int]:
    """Processes whose parent is this one."""
    found = Path("/proc/self/task").glob("*/children")
    return {int(pid) for path in found for pid in path.read_text(encoding="ascii").split()}


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
