"""Which cores each worker gets, and which are left for the front; pure.

Big cores first, one memory node and one cluster per worker, never both threads of a physical core while there is a
choice. A worker never shares its cores with another one: each would make every step of the other as slow as itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from edge_asr.errors import ConfigurationError
from edge_asr.resources.topology import Core, Topology, worker_cores

Group = tuple[Core, ...]
"""Cores of one memory node, one cluster and one kind."""

BIG_SHARE = 0.8
"""Cores at least so fast, by the fastest one, are big: the two pairs of an RK3588 differ by their speed bin, its small
cores have 0.4 of their capacity."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Cores by the kernel's numbers."""

    workers: tuple[tuple[int, ...], ...]
    """One set for each worker, disjoint."""
    front: tuple[int, ...]
    """Those that no worker has; all of them where the workers need every one."""


def assign_cores(
    topology: Topology, count: int | Literal["auto"], threads: int, chosen: tuple[int, ...] = ()
) -> Placement:
    """Give every worker its cores.

    Args:
        topology: Cores this process may use.
        count: Workers; ``auto`` for one per cluster of big cores.
        threads: Of the engine, in each worker.
        chosen: Cores that the configuration names for the workers; empty to choose the best.

    Raises:
        ConfigurationError: There are fewer cores than the workers' threads.
    """
    if chosen:
        workers = [chosen] if count in (1, "auto") else _for_many([_named(topology, chosen)], int(count), threads)
        return Placement(tuple(workers), _for_front(topology, workers))
    big = _groups([core for core in topology.cores if _share(core, topology) >= BIG_SHARE])
    fitting = sum(len(_physical(group)) >= threads for group in big)
    number = max(1, fitting) if count == "auto" else count
    if number == 1:
        workers = [_for_one(topology, big[0], threads)]
    else:
        small = _groups([core for core in topology.cores if _share(core, topology) < BIG_SHARE])
        workers = _for_many([big, small], number, threads)
    return Placement(tuple(workers), _for_front(topology, workers))


def _for_one(topology: Topology, group: Group, threads: int) -> tuple[int, ...]:
    """The best group; but for one core for the front, where there are no others and this one is not missed."""
    physical = _physical(group)
    if len(physical) < threads:
        return worker_cores(topology, threads)
    cores = physical if len(physical) > threads else group
    if len(physical) > threads + 1 and len(_physical(topology.cores)) == len(physical):
        cores = physical[1:]  # the first core serves the interrupts of most boards
    return _numbers(cores)


def _for_many(kinds: list[list[Group]], count: int, threads: int) -> list[tuple[int, ...]]:
    """Workers on cores of the first kind as long as there are any, then on the next."""
    rooms = [_room(groups, threads) for groups in kinds]
    if sum(rooms) < count:
        raise ConfigurationError(
            f"worker.count = {count}: with engine.threads = {threads} the cores here are enough for {sum(rooms)}; "
            "lower one of the two"
        )
    workers: list[tuple[int, ...]] = []
    for groups, room in zip(kinds, rooms, strict=True):
        workers += _spread(groups, min(room, count - len(workers)), threads)
    return workers


def _spread(groups: list[Group], count: int, threads: int) -> list[tuple[int, ...]]:
    """A group each where there are enough; else cuts of ``threads`` cores or more, none across two groups."""
    fitting = [_physical(group) for group in groups if len(_physical(group)) >= threads]
    shares = [0] * len(fitting)
    for _ in range(count):
        # The next worker goes where it has the most cores for itself; equal ones in order, the fastest first.
        free = [len(group) / (share + 1) for group, share in zip(fitting, shares, strict=True)]
        able = [len(group) // threads > share for group, share in zip(fitting, shares, strict=True)]
        best = max((number for number, fits in enumerate(able) if fits), key=lambda number: (free[number], -number))
        shares[best] += 1
    return [cut for group, share in zip(fitting, shares, strict=True) for cut in _cuts(group, share)]


def _cuts(group: Group, parts: int) -> Iterator[tuple[int, ...]]:
    """As equal as can be, neighbours together."""
    for part in range(parts):
        yield _numbers(group[len(group) * part // parts : len(group) * (part + 1) // parts])


def _for_front(topology: Topology, workers: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    taken = {cpu for cpus in workers for cpu in cpus}
    free = [core for core in topology.cores if core.cpu not in taken]
    quiet = [core for core in free if not core.siblings & taken]
    return _numbers(quiet or free) or topology.cpus


def _room(groups: Iterable[Group], threads: int) -> int:
    """Workers of so many threads that fit, none across two groups."""
    return sum(len(_physical(group)) // threads for group in groups)


def _share(core: Core, topology: Topology) -> float:
    """How fast a core is, by the fastest one; 1 where the kernel does not say."""
    fastest = max(topology.cores, key=lambda other: other.speed)
    if fastest.capacity:
        return core.capacity / fastest.capacity
    return core.max_frequency_khz / fastest.max_frequency_khz if fastest.max_frequency_khz else 1.0


def _groups(cores: list[Core]) -> list[Group]:
    """Cores of one node and one cluster together, the fastest group first, then in the kernel's order."""
    keys = dict.fromkeys((core.node, _cluster_key(core, cores)) for core in cores)
    groups = [tuple(core for core in cores if (core.node, _cluster_key(core, cores)) == key) for key in keys]
    return sorted(groups, key=lambda group: max(core.speed for core in group), reverse=True)


def _cluster_key(core: Core, cores: list[Core]) -> frozenset[int]:
    """Its cluster where that holds several physical cores; x86 kernels call the two threads of one core a cluster."""
    others = [other for other in cores if other.cpu in core.cluster]
    return core.cluster if len(_physical(others)) > 1 else frozenset()


def _named(topology: Topology, chosen: tuple[int, ...]) -> list[Group]:
    if missing := sorted(set(chosen) - set(topology.cpus)):
        raise ConfigurationError(f"worker.cpus: cannot use {missing} here; this process may use {list(topology.cpus)}")
    return _groups([core for core in topology.cores if core.cpu in chosen])


def _physical(cores: Iterable[Core]) -> tuple[Core, ...]:
    """The first thread of each physical core, in order."""
    first = {core.siblings: core for core in sorted(cores, key=lambda core: core.cpu, reverse=True)}
    return tuple(sorted(first.values(), key=lambda core: core.cpu))


def _numbers(cores: Iterable[Core]) -> tuple[int, ...]:
    return tuple(sorted(core.cpu for core in cores))
