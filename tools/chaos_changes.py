"""What changes under running sessions without harm: the model, again and again, and the worker by a fresh one."""

from __future__ import annotations

import asyncio
import http.client
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.chaos_daemon import Daemon
from tools.model_swaps import DAMAGED, GOOD, SwapRecord, activate, fill_store


@dataclass(slots=True)
class Changes(SwapRecord):
    """What came of it."""

    recycled: int = 0
    """Workers that were replaced by fresh ones."""


def swapping_environment(folder: Path) -> Mapping[str, str]:
    """A store with models to change between, for the daemon."""
    fill_store(folder)
    # Sessions move soon, or they would end before they do.
    return {"EDGE_ASR_HOME": str(folder), "EDGE_ASR_MODEL": GOOD[1], "EDGE_ASR_WORKER_SWAP_DRAIN_S": "1"}


def recycling_environment() -> Mapping[str, str]:
    """Workers that are old after a second."""
    return {"EDGE_ASR_WORKER_RECYCLE_AFTER_S": "1"}


async def let_recycle(daemon: Daemon, seconds: float, changes: Changes) -> None:
    """Wait, and count how many workers were replaced meanwhile."""
    pids: set[int] = set()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pids.add((await asyncio.to_thread(daemon.status))["worker_pid"])
        await asyncio.sleep(1.0)
    changes.recycled = len(pids) - 1


async def swap_models(daemon: Daemon, seconds: float, changes: Changes) -> None:
    """One model after the other until the time is up: a good one, then a damaged one."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        good = GOOD[changes.swaps % 2]
        status, code = await asyncio.to_thread(activate, daemon.admin_socket, good)
        changes.swaps += 1
        if status != http.client.OK:
            changes.faults.append(f"{good} was refused: {code}")
        before = await asyncio.to_thread(daemon.status)
        bad = DAMAGED[changes.swaps % len(DAMAGED)]
        status, code = await asyncio.to_thread(activate, daemon.admin_socket, bad)
        after = await asyncio.to_thread(daemon.status)
        changes.refused[bad] = code
        if status == http.client.OK or before["worker_pid"] != after["worker_pid"] or after["state"] != "ready":
            changes.faults.append(f"{bad} changed something: {status} {code}")
