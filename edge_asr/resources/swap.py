"""Where this machine swaps to: a disk, an SD card, or compressed memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from edge_asr.resources.procfs import read_text

SwapMedium = Literal["zram", "sd_card", "emmc", "disk"]


@dataclass(frozen=True, slots=True)
class SwapArea:
    """One line of ``/proc/swaps``."""

    path: str
    medium: SwapMedium
    size_bytes: int
    used_bytes: int


def read_swap_areas(root: Path = Path("/")) -> tuple[SwapArea, ...]:
    """Every area in use; empty without swap."""
    lines = (read_text(root / "proc/swaps") or "").splitlines()[1:]
    return tuple(_swap_area(line.split(), root) for line in lines)


def _swap_area(columns: list[str], root: Path) -> SwapArea:
    path, kind, size_kib, used_kib = columns[:4]
    device = PurePosixPath(path).name if kind == "partition" else _device_below(path, root)
    return SwapArea(path, _medium(device, root), int(size_kib) << 10, int(used_kib) << 10)


def _medium(device: str, root: Path) -> SwapMedium:
    if device.startswith("zram"):
        return "zram"
    if not device.startswith("mmcblk"):
        return "disk"
    card = device.partition("p")[0]
    return "emmc" if read_text(root / f"sys/block/{card}/device/type") == "MMC" else "sd_card"


def _device_below(path: str, root: Path) -> str:
    """The block device of the file system that holds a file; empty when it is not known."""
    numbers = _device_numbers(path, root)
    disks = root / "sys/block"
    entries = (*disks.glob("*/dev"), *disks.glob("*/*/dev"))  # the disks, and their partitions
    return next((entry.parent.name for entry in entries if read_text(entry) == numbers), "")


def _device_numbers(path: str, root: Path) -> str | None:
    """``major:minor`` of the mount with the longest path above this one, by proc_pid_mountinfo(5)."""
    mounts = list(_mounts(root))
    holding = [(len(point), numbers) for point, numbers in mounts if PurePosixPath(path).is_relative_to(point)]
    return max(holding)[1] if holding else None


def _mounts(root: Path) -> Iterator[tuple[str, str]]:
    for line in (read_text(root / "proc/self/mountinfo") or "").splitlines():
        columns = line.split()
        yield columns[4], columns[2]
