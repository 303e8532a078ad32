"""Clock frequency and governor of the cores, by the kernel's frequency policies.

A policy is a group of cores that share one clock: all cores of a Raspberry Pi, one cluster of an RK3588, one core of
most x86 machines. Virtual machines have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from edge_asr.resources.procfs import read_int, read_text


@dataclass(frozen=True, slots=True)
class FrequencyPolicy:
    """One group of cores and its clock now."""

    cpus: frozenset[int]
    governor: str | None
    """``performance`` holds the highest frequency; others follow the load."""
    driver: str | None
    current_khz: int | None
    min_khz: int | None
    """Lowest the governor may choose now."""
    max_khz: int | None
    """Highest the governor may choose now; the kernel's thermal code lowers it."""


def read_policies(root: Path = Path("/")) -> tuple[FrequencyPolicy, ...]:
    """Every policy with a core online, by its first core; empty where the kernel scales no frequency."""
    folders = (root / "sys/devices/system/cpu/cpufreq").glob("policy*")
    policies = (_read_policy(folder) for folder in folders)
    return tuple(sorted((policy for policy in policies if policy.cpus), key=lambda policy: min(policy.cpus)))


def _read_policy(folder: Path) -> FrequencyPolicy:
    # The hardware's own answer where we may read it (root); otherwise what the kernel asked for.
    measured = read_int(folder / "cpuinfo_cur_freq")
    return FrequencyPolicy(
        cpus=frozenset(int(cpu) for cpu in (read_text(folder / "affected_cpus") or "").split()),
        governor=read_text(folder / "scaling_governor"),
        driver=read_text(folder / "scaling_driver"),
        current_khz=measured if measured is not None else read_int(folder / "scaling_cur_freq"),
        min_khz=read_int(folder / "scaling_min_freq"),
        max_khz=read_int(folder / "scaling_max_freq"),
    )
