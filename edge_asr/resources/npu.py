"""The NPU as the kernel shows it: how busy it is, the version of its driver, and that of Rockchip's runtime library.

Formats: ``load`` and ``version`` of Rockchip's driver (``/sys/kernel/debug/rknpu``, readable by root only, or
``/proc/rknpu``), and the ``load`` that its kernels give a devfreq device, ``PERCENT@HERTZ``.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from edge_asr.resources.procfs import read_text

_NODES = ("sys/kernel/debug/rknpu", "proc/rknpu")
_CORE = re.compile(r"(?:Core(\d+):\s*)?(\d+)%")
"""``NPU load:  Core0: 12%, Core1:  0%,`` or, of one core, ``NPU load:  12%``."""
_DEVFREQ = re.compile(r"(\d+)@\d+Hz")
_DRIVER = re.compile(r"v?(\d+(?:\.\d+)+)")
_RUNTIME = re.compile(rb"librknnrt version: (\d+(?:\.\d+)+)")


def read_npu_loads(root: Path = Path("/")) -> Mapping[str, float]:
    """How busy each core was of late, 0 to 1, by its number or its device; empty where the kernel does not say."""
    for node in _NODES:
        cores = _CORE.findall(read_text(root / node / "load") or "")
        if cores:
            return {number or "0": int(percent) / 100 for number, percent in cores}
    loads = {}
    for device in sorted((root / "sys/class/devfreq").glob("*npu*")):
        if found := _DEVFREQ.match(read_text(device / "load") or ""):
            loads[device.name] = int(found[1]) / 100
    return loads


def read_npu_driver(root: Path = Path("/")) -> str:
    """Version of Rockchip's driver, such as ``0.9.8``; empty where the kernel does not say, or not to us."""
    for path in (*(root / node / "version" for node in _NODES), root / "sys/module/rknpu/version"):
        if found := _DRIVER.search(read_text(path) or ""):
            return found[1]
    return ""


def find_device_file(patterns: Iterable[str], root: Path = Path("/")) -> Path | None:
    """The first file that is there.

    Args:
        patterns: Relative to the root, ``*`` as in a shell.
        root: Where ``dev``, ``sys`` and ``usr`` are.
    """
    return next((path for pattern in patterns for path in sorted(root.glob(pattern))), None)


def read_rknn_runtime(library: Path) -> str:
    """Version that ``librknnrt.so`` carries in its text, such as ``2.2.0``; nothing of it is loaded. Empty: none."""
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found = _RUNTIME.search(content)
            return found[1].decode() if found else ""
    except (OSError, ValueError):  # an empty file cannot be mapped
        return ""
