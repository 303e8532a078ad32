"""What the cores are called and which instructions they have.

Integer models run on dot-product instructions where there are any; a Cortex-A53 or A72 has none and takes several times
as long for the same model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from edge_asr.resources.procfs import read_text

_ARM_PARTS = MappingProxyType(
    {
        "0xb76": "ARM1176",
        "0xc07": "Cortex-A7",
        "0xc09": "Cortex-A9",
        "0xc0f": "Cortex-A15",
        "0xd03": "Cortex-A53",
        "0xd04": "Cortex-A35",
        "0xd05": "Cortex-A55",
        "0xd07": "Cortex-A57",
        "0xd08": "Cortex-A72",
        "0xd09": "Cortex-A73",
        "0xd0a": "Cortex-A75",
        "0xd0b": "Cortex-A76",
        "0xd0c": "Neoverse-N1",
        "0xd0d": "Cortex-A77",
        "0xd40": "Neoverse-V1",
        "0xd41": "Cortex-A78",
        "0xd42": "Cortex-A78AE",
        "0xd46": "Cortex-A510",
        "0xd47": "Cortex-A710",
        "0xd49": "Neoverse-N2",
        "0xd4f": "Neoverse-V2",
        "0xd80": "Cortex-A520",
        "0xd81": "Cortex-A720",
    }
)
"""Part numbers of cores that Arm designed (implementer 0x41), as in the kernel's ``asm/cputype.h``."""


@dataclass(frozen=True, slots=True)
class Processor:
    """One logical core as ``/proc/cpuinfo`` describes it."""

    cpu: int
    name: str
    """``Cortex-A76``, or the vendor's model name; ``unknown`` where the kernel gives neither."""
    features: frozenset[str]
    """The kernel's words: ``Features`` on ARM, ``flags`` on x86."""


def read_processors(root: Path = Path("/")) -> tuple[Processor, ...]:
    """Every core of ``/proc/cpuinfo``, in its order; empty where it cannot be read."""
    blocks = (read_text(root / "proc/cpuinfo") or "").split("\n\n")
    return tuple(_processor(fields) for block in blocks if "processor" in (fields := dict(_fields(block))))


def _fields(block: str) -> Iterator[tuple[str, str]]:
    for line in block.splitlines():
        key, _, value = line.partition(":")
        yield key.strip(), value.strip()


def _processor(fields: dict[str, str]) -> Processor:
    part = _ARM_PARTS.get(fields.get("CPU part", "")) if fields.get("CPU implementer") == "0x41" else None
    return Processor(
        cpu=int(fields["processor"]),
        name=part or fields.get("model name") or fields.get("CPU part") or "unknown",
        features=frozenset((fields.get("Features") or fields.get("flags") or "").split()),
    )


@dataclass(frozen=True, slots=True)
class CpuFeatures:
    """The instructions that decide how fast an 8-bit model runs; each is there only if every core has it."""

    dot_product: bool
    """8-bit dot products: ``asimddp`` on ARM (Cortex-A55, A76 and later), VNNI on x86."""
    matrix_multiply: bool
    """8-bit matrix products: ``i8mm`` on ARM, AMX on x86."""
    half_precision: bool
    """Arithmetic in 16-bit floats."""
    names: tuple[str, ...]
    """All the kernel's words that hold for every core, sorted."""


def common_features(processors: tuple[Processor, ...]) -> CpuFeatures | None:
    """What every core can do: a program may be moved to any of them; ``None`` without any core."""
    if not processors:
        return None
    names = frozenset.intersection(*(processor.features for processor in processors))
    return CpuFeatures(
        dot_product=bool(names & {"asimddp", "avx_vnni", "avx512_vnni"}),
        matrix_multiply=bool(names & {"i8mm", "amx_int8"}),
        half_precision=bool(names & {"asimdhp", "avx512_fp16"}),
        names=tuple(sorted(names)),
    )
