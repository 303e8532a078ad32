"""Which machine this is: everything that makes two measurements comparable or not."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path

from edge_asr.resources.cpu_features import CpuFeatures, common_features, read_processors
from edge_asr.resources.elf import read_program
from edge_asr.resources.frequency import read_policies
from edge_asr.resources.memory import total_bytes
from edge_asr.resources.procfs import read_text
from edge_asr.resources.swap import SwapArea, read_swap_areas
from edge_asr.resources.topology import numa_nodes, read_topology


@dataclass(frozen=True, slots=True)
class Cluster:
    """Cores of one kind."""

    cpus: tuple[int, ...]
    name: str
    max_frequency_khz: int | None
    physical_cores: int
    """Fewer than ``cpus`` where a core runs two threads."""


@dataclass(frozen=True, slots=True)
class BoardFingerprint:
    """The machine and the programs under us; ``None`` is what it does not say."""

    model: str | None
    """The device tree's words, or the vendor and product of the DMI table."""
    architecture: str | None
    """The kernel's: ``aarch64``, ``armv7l``, ``x86_64``."""
    userland_bits: int | None
    """32 or 64: of the running interpreter, which decides which packages fit."""
    kernel: str | None
    page_size_bytes: int | None
    clusters: tuple[Cluster, ...]
    """Those this process may use, the fastest first."""
    numa_nodes: tuple[tuple[int, ...], ...]
    """Cores by memory node; empty where the kernel knows of none."""
    features: CpuFeatures | None
    governors: tuple[str, ...]
    memory_bytes: int | None
    swap: tuple[SwapArea, ...]
    python: str
    libc: str
    """Such as ``glibc 2.36``."""


def read_board(root: Path = Path("/")) -> BoardFingerprint:
    """Read the machine. Python and C library are those of this process, whatever the root."""
    program = read_program(root / "proc/self/exe")
    return BoardFingerprint(
        model=_model(root),
        architecture=_architecture(root),
        userland_bits=program.bits if program else None,
        kernel=read_text(root / "proc/sys/kernel/osrelease"),
        page_size_bytes=_page_size_bytes(root, program.bits if program else 64),
        clusters=_clusters(root),
        numa_nodes=_numa_nodes(root),
        features=common_features(read_processors(root)),
        governors=tuple(sorted({policy.governor for policy in read_policies(root) if policy.governor})),
        memory_bytes=total_bytes(root),
        swap=read_swap_areas(root),
        python=platform.python_version(),
        libc=" ".join(platform.libc_ver()).strip(),
    )


def _model(root: Path) -> str | None:
    tree = read_text(root / "proc/device-tree/model") or read_text(root / "sys/firmware/devicetree/base/model")
    if tree:
        return tree.rstrip("\0")
    table = (read_text(root / f"sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name"))
    return " ".join(text for text in table if text) or None


def _architecture(root: Path) -> str | None:
    # The file came with Linux 6.1; before that only the running kernel can be asked.
    return read_text(root / "proc/sys/kernel/arch") or (platform.machine() if root == Path("/") else None)


_AT_PAGESZ = 6
"""Key of the auxiliary vector, getauxval(3)."""


def _page_size_bytes(root: Path, bits: int) -> int | None:
    try:
        vector = memoryview((root / "proc/self/auxv").read_bytes()).cast("Q" if bits == 64 else "I")
    except (OSError, TypeError):
        return None
    return dict(zip(vector[::2], vector[1::2], strict=False)).get(_AT_PAGESZ)


def _clusters(root: Path) -> tuple[Cluster, ...]:
    names = {processor.cpu: processor.name for processor in read_processors(root)}
    try:
        clusters = read_topology(root).clusters()
    except (FileNotFoundError, KeyError):
        return ()
    return tuple(
        Cluster(
            cpus=tuple(core.cpu for core in cores),
            name=names.get(cores[0].cpu, "unknown"),
            max_frequency_khz=cores[0].max_frequency_khz or None,
            physical_cores=len({core.siblings for core in cores}),
        )
        for cores in clusters
    )


def _numa_nodes(root: Path) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(sorted(cpus)) for cpus in numa_nodes(root).values())
