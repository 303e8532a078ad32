"""How a worker is started: its command line and its environment."""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

import edge_asr

STANDARD_LOADER = "edge_asr.workers.loading:load_model"
"""``module:function`` that a worker calls with its ``Configure`` to get an engine."""

_ONE_THREAD_EACH = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Pools of numpy's linear algebra, which the worker does not use and which would start a thread per core."""


def worker_command(
    fd: int, black_box_fd: int, cpus: Collection[int], loader: str = STANDARD_LOADER, group: Path | None = None
) -> list[str]:
    """Arguments of the worker process.

    Args:
        fd: Its end of the socket pair.
        black_box_fd: The page in which it says whose audio it looks at.
        cpus: Cores it pins itself to before it loads anything native.
        loader: ``module:function`` that loads the engine.
        group: Directory of the control group that it joins; ``None`` to stay in ours.
    """
    # -P: whatever lies in the current directory (a queue.py, a numpy folder) must not be imported by the worker.
    command = [sys.executable, "-P", "-m", "edge_asr.workers.child", "--fd", str(fd)]
    command += ["--black-box", str(black_box_fd), "--loader", loader]
    if cpus:
        command += ["--cpus", ",".join(str(cpu) for cpu in sorted(cpus))]
    if group is not None:
        command += ["--group", str(group)]
    return command


def worker_environment(inherited: Mapping[str, str], malloc_arenas: int) -> dict[str, str]:
    """Environment of the worker process: what must stand before its first import.

    Args:
        inherited: The front's own environment.
        malloc_arenas: Upper bound on glibc's arenas; each keeps freed memory to itself.
    """
    environment = dict(inherited)
    environment.update(dict.fromkeys(_ONE_THREAD_EACH, "1"))
    environment["MALLOC_ARENA_MAX"] = str(malloc_arenas)
    environment["PYTHONPATH"] = os.pathsep.join(_import_path(inherited.get("PYTHONPATH", "")))
    return environment


def _import_path(inherited: str) -> list[str]:
    """The worker must import the very package the front runs from, also when that is a checkout."""
    entries = [entry for entry in inherited.split(os.pathsep) if entry]
    home = str(Path(edge_asr.__file__).resolve().parent.parent)
    is_installed = home in (*site.getsitepackages(), site.getusersitepackages())
    return entries if is_installed or home in entries else [home, *entries]
