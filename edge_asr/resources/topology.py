"""The cores of this machine: which ones we may use, how fast they are, and which default to give the worker.

On a big.LITTLE board the kernel says how fast a core is (``cpu_capacity``, 1024 for the fastest); elsewhere its highest
frequency tells. Everything is read below ``root``, which tests replace by a tree of the same shape.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from edge_asr.resources.procfs import parse_cpu_list, read_fields, read_int, read_text


@dataclass(frozen=True, slots=True)
class Core:
    """One logical core that this process may use."""

    cpu: int
    """The kernel's number."""
    capacity: int
    """The kernel's ``cpu_capacity``, 0 to 1024; 0 where the kernel gives none."""
    max_frequency_khz: int
    """0 where the kernel gives none (most virtual machines)."""
    siblings: frozenset[int]
    """Logical cores of the same physical core, itself included, allowed or not."""
    cluster: frozenset[int] = frozenset()
    """Logical cores that share a cache below the last one, as the kernel's ``cluster_cpus_list`` or, on boards, its
    frequency policies say; allowed or not. Empty where it says neither."""
    node: int = 0
    """Memory node; 0 where there is one only."""

    @property
    def speed(self) -> tuple[int, int]:
        """Orders cores of one machine: greater is faster, equal is the same cluster."""
        return (self.capacity, self.max_frequency_khz)


@dataclass(frozen=True, slots=True)
class Topology:
    """The cores this process may use, in the kernel's order."""

    cores: tuple[Core, ...]

    @property
    def cpus(self) -> tuple[int, ...]:
        """Numbers of all allowed cores."""
        return tuple(core.cpu for core in self.cores)

    def clusters(self) -> tuple[tuple[Core, ...], ...]:
        """Cores of equal speed together, the fastest cluster first."""
        speeds = sorted({core.speed for core in self.cores}, reverse=True)
        return tuple(tuple(core for core in self.cores if core.speed == speed) for speed in speeds)


def read_topology(root: Path = Path("/")) -> Topology:
    """Read the cores that this process is allowed to use (its affinity mask, which cpusets narrow) and that are online.

    Args:
        root: Where ``proc`` and ``sys`` are.
    """
    base = root / "sys/devices/system/cpu"
    allowed = parse_cpu_list(read_fields(root / "proc/self/status")["Cpus_allowed_list"])
    online = read_text(base / "online")
    if online:
        allowed &= parse_cpu_list(online)
    nodes = _nodes(root)
    return Topology(tuple(_read_core(base, cpu, nodes.get(cpu, 0)) for cpu in sorted(allowed)))


def numa_nodes(root: Path = Path("/")) -> dict[int, frozenset[int]]:
    """Cores by memory node; empty where the kernel knows of none."""
    folders = (root / "sys/devices/system/node").glob("node[0-9]*")
    lists = {int(folder.name[4:]): read_text(folder / "cpulist") for folder in folders}
    return {node: parse_cpu_list(cpus) for node, cpus in sorted(lists.items()) if cpus is not None}


def _nodes(root: Path) -> dict[int, int]:
    return {cpu: node for node, cpus in numa_nodes(root).items() for cpu in cpus}


def _read_core(base: Path, cpu: int, node: int) -> Core:
    directory = base / f"cpu{cpu}"
    siblings = read_text(directory / "topology/thread_siblings_list")
    return Core(
        cpu=cpu,
        capacity=read_int(directory / "cpu_capacity") or 0,
        max_frequency_khz=read_int(directory / "cpufreq/cpuinfo_max_freq") or 0,
        siblings=parse_cpu_list(siblings) if siblings else frozenset({cpu}),
        cluster=_read_cluster(directory),
        node=node,
    )


def _read_cluster(directory: Path) -> frozenset[int]:
    """The kernel names clusters since 5.16; before, the cores of a cluster of a board share one clock."""
    named = read_text(directory / "topology/cluster_cpus_list")
    if named:
        return parse_cpu_list(named)
    clock = read_text(directory / "cpufreq/related_cpus")
    return frozenset(int(cpu) for cpu in clock.split()) if clock else frozenset()


def worker_cores(topology: Topology, threads: int) -> tuple[int, ...]:
    """Cores the worker gets when nobody chose any: the fastest ones, of one cluster where that is enough.

    A slow core in the set would make every parallel step as slow as itself, so slower clusters are added only while
    there are fewer cores than engine threads. The second thread of a physical core adds little to a decode and is left
    out, unless that would leave the engine and the worker's socket thread on the same core.
    """
    chosen: list[Core] = []
    for cluster in topology.clusters():
        chosen += cluster
        if len(_one_per_physical_core(chosen)) >= threads:
            break
    physical = _one_per_physical_core(chosen)
    return tuple(sorted(core.cpu for core in (physical if len(physical) > threads else chosen)))


def _one_per_physical_core(cores: Iterable[Core]) -> list[Core]:
    first_of = {core.siblings: core for core in sorted(cores, key=lambda core: core.cpu, reverse=True)}
    return list(first_of.values())
