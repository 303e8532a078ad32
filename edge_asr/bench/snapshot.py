"""What the machine said at one instant: the raw material of every verdict on a run."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from edge_asr.resources.cgroup import CpuThrottling, memory_peak_bytes, read_cpu_throttling
from edge_asr.resources.cpu_time import MachineCpuTime, read_machine_cpu_time, read_process_tree
from edge_asr.resources.frequency import FrequencyPolicy, read_policies
from edge_asr.resources.memory import read_process_memory
from edge_asr.resources.paging import Paging, read_paging
from edge_asr.resources.thermal import hottest_celsius
from edge_asr.resources.throttling import Throttling, read_throttling, read_under_voltage_alarm


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One reading; whatever the machine does not say is ``None``. Counters run since boot: compare two readings."""

    taken_ns: int
    """``time.monotonic_ns`` when the reading began."""
    throttling: Throttling | None = None
    under_voltage_alarm: bool | None = None
    policies: tuple[FrequencyPolicy, ...] = ()
    temperature_celsius: float | None = None
    """Of the hottest zone."""
    paging: Paging | None = None
    machine_cpu: MachineCpuTime | None = None
    tree_cpu_s: float | None = None
    """User and system time of our process and its descendants, ended children included."""
    cpu_throttling: CpuThrottling | None = None
    """What CPU quotas of our control groups cost."""
    group_peak_bytes: int | None = None
    """The most our control group ever used."""
    resident_bytes: int | None = None
    """Resident memory of our processes, added up; pages that they share count for each."""
    peak_resident_bytes: int | None = None
    """The processes' own peaks, added up: no less than the peak of the sum."""


def take_snapshot(root: Path = Path("/"), tree_pid: int | None = None, other_trees: Sequence[int] = ()) -> Snapshot:
    """Read everything once; some milliseconds on a board.

    Args:
        root: Where ``proc`` and ``sys`` are.
        tree_pid: Top of the processes that are ours; this process when omitted.
        other_trees: Tops of further ones, such as a daemon that is measured.
    """
    taken_ns = time.monotonic_ns()
    # The two accounts of CPU time one right after the other: what is used in between belongs to only one of them.
    machine_cpu = read_machine_cpu_time(root)
    pids, tree_cpu_s = _of_trees((os.getpid() if tree_pid is None else tree_pid, *other_trees), root)
    resident_bytes, peak_resident_bytes = _memory_of(pids, root)
    return Snapshot(
        taken_ns=taken_ns,
        throttling=read_throttling(root),
        under_voltage_alarm=read_under_voltage_alarm(root),
        policies=read_policies(root),
        temperature_celsius=hottest_celsius(root),
        paging=read_paging(root),
        machine_cpu=machine_cpu,
        tree_cpu_s=tree_cpu_s,
        cpu_throttling=read_cpu_throttling(root),
        group_peak_bytes=memory_peak_bytes(root),
        resident_bytes=resident_bytes,
        peak_resident_bytes=peak_resident_bytes,
    )


def _of_trees(tops: Sequence[int], root: Path) -> tuple[tuple[int, ...], float | None]:
    """All processes and their CPU time; a tree that is part of another one counts once."""
    found = {top: tree for top in dict.fromkeys(tops) if (tree := read_process_tree(top, root)) is not None}
    whole = [
        tree
        for top, tree in found.items()
        if not any(top in other.pids for other_top, other in found.items() if other_top != top)
    ]
    pids = tuple(pid for tree in whole for pid in tree.pids)
    return pids, sum(tree.cpu_s for tree in whole) if whole else None


def _memory_of(pids: tuple[int, ...], root: Path) -> tuple[int | None, int | None]:
    readings = []
    for pid in pids:
        try:
            readings.append(read_process_memory(pid, root))
        except ProcessLookupError:
            continue  # it ended meanwhile
    if not readings:
        return None, None
    return sum(each.resident_bytes for each in readings), sum(each.peak_resident_bytes for each in readings)
