"""Small copies of ``/proc`` and ``/sys`` as real boards show them, for everything that takes a ``root``."""

from __future__ import annotations

from pathlib import Path

CPU = "sys/devices/system/cpu"


def write_tree(root: Path, files: dict[str, str]) -> Path:
    """Write each text below ``root``, with the newline the kernel puts behind it."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="ascii")
    return root


def _status(allowed: str) -> dict[str, str]:
    return {
        "proc/self/status": f"Name:\tpython3\nThreads:\t1\nCpus_allowed:\tf\nCpus_allowed_list:\t{allowed}",
    }


def _core(cpu: int, siblings: str, max_khz: int = 0, capacity: int | None = None) -> dict[str, str]:
    files = {f"{CPU}/cpu{cpu}/topology/thread_siblings_list": siblings}
    if max_khz:
        files[f"{CPU}/cpu{cpu}/cpufreq/cpuinfo_max_freq"] = str(max_khz)
    if capacity is not None:
        files[f"{CPU}/cpu{cpu}/cpu_capacity"] = str(capacity)
    return files


def raspberry_pi_4(root: Path, allowed: str = "0-3") -> Path:
    """Four equal Cortex-A72; this kernel has no ``cpu_capacity``, and the memory controller is off."""
    files = _status(allowed) | {f"{CPU}/online": "0-3", "proc/self/cgroup": "0::/system.slice/edge-asr.service"}
    files["sys/fs/cgroup/cgroup.controllers"] = "cpuset cpu io pids"
    files["proc/meminfo"] = "MemTotal:        3885396 kB\nMemFree:         2913048 kB\nMemAvailable:    3433192 kB"
    for cpu in range(4):
        files |= _core(cpu, str(cpu), 1_800_000)
    return write_tree(root, files)


def rk3588(root: Path, allowed: str = "0-7", online: str = "0-7") -> Path:
    """Four Cortex-A55 (0-3) and two pairs of Cortex-A76 (4-5, 6-7) of slightly different speed bins."""
    files = _status(allowed) | {f"{CPU}/online": online}
    for cpu in range(4):
        files |= _core(cpu, str(cpu), 1_800_000, 414)
    for cpu in (4, 5):
        files |= _core(cpu, str(cpu), 2_304_000, 1024)
    for cpu in (6, 7):
        files |= _core(cpu, str(cpu), 2_352_000, 1024)
    return write_tree(root, files)


def x86_laptop(root: Path, physical: int = 2) -> Path:
    """Physical cores with two threads each: 0 and 1 are the two of the first."""
    logical = 2 * physical
    files = _status(f"0-{logical - 1}") | {f"{CPU}/online": f"0-{logical - 1}"}
    for cpu in range(logical):
        first = cpu - cpu % 2
        files |= _core(cpu, f"{first}-{first + 1}", 4_600_000)
    return write_tree(root, files)


def virtual_machine(root: Path) -> Path:
    """Two cores of which the kernel knows neither speed nor siblings."""
    return write_tree(root, _status("0-1") | {f"{CPU}/online": "0-1"})
