"""The pieces that every board's tree is put together from.

The layout of the files is the kernel's documented interface: ``Documentation/ABI/testing/sysfs-devices-system-cpu``
(``cpu_capacity``, ``topology``, ``cpufreq``), ``Documentation/admin-guide/pm/cpufreq.rst`` (policies),
``Documentation/driver-api/thermal/sysfs-api.rst``, ``Documentation/admin-guide/cgroup-v2.rst``, and the manual pages
proc_stat(5), proc_pid_stat(5), proc_pid_status(5), proc_swaps(5), proc_pid_mountinfo(5), elf(5) and getauxval(3).
Counters and amounts of memory are invented, of the size that such a board shows some minutes after it started.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

Files = dict[str, str | bytes]

CPU = "sys/devices/system/cpu"
AARCH64 = 183
ARM = 40
X86_64 = 62


def write_tree(root: Path, files: Files | dict[str, str]) -> Path:
    """Write each text below ``root`` with the newline the kernel puts behind it; bytes as they are."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else (content + "\n").encode("ascii"))
    return root


def process(allowed: str, elf_machine: int, page_size: int = 4096, bits: int = 64) -> Files:
    """What the kernel says of the process that reads."""
    word = "<QQ" if bits == 64 else "<II"
    return {
        "proc/self/status": "Name:\tpython3\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\n"
        f"Groups:\t29 1000\nThreads:\t1\nCpus_allowed:\tf\nCpus_allowed_list:\t{allowed}",
        "proc/self/exe": b"\x7fELF" + bytes([bits // 32, 1]) + bytes(12) + struct.pack("<H", elf_machine) + bytes(44),
        "proc/self/auxv": b"".join(struct.pack(word, *pair) for pair in ((16, 0x887), (6, page_size), (0, 0))),
    }


def kernel(release: str, architecture: str | None = None) -> Files:
    """Version, and the architecture where the kernel is new enough (6.1) to say it."""
    files: Files = {"proc/sys/kernel/osrelease": release}
    return files | ({"proc/sys/kernel/arch": architecture} if architecture else {})


def core(cpu: int, siblings: str, max_khz: int = 0, capacity: int | None = None) -> Files:
    """The folder of one core."""
    files: Files = {f"{CPU}/cpu{cpu}/topology/thread_siblings_list": siblings}
    if max_khz:
        files[f"{CPU}/cpu{cpu}/cpufreq/cpuinfo_max_freq"] = str(max_khz)
    if capacity is not None:
        files[f"{CPU}/cpu{cpu}/cpu_capacity"] = str(capacity)
    return files


def policy(cpus: Iterable[int], governor: str, driver: str, frequencies_khz: tuple[int, int, int]) -> Files:
    """One frequency policy; frequencies are the lowest allowed, the one now, and the highest allowed."""
    cpus = tuple(cpus)
    folder = f"{CPU}/cpufreq/policy{cpus[0]}"
    lowest, now, highest = frequencies_khz
    shared: Files = {f"{CPU}/cpu{cpu}/cpufreq/related_cpus": " ".join(map(str, cpus)) for cpu in cpus}
    return shared | {
        f"{folder}/affected_cpus": " ".join(map(str, cpus)),
        f"{folder}/scaling_governor": governor,
        f"{folder}/scaling_driver": driver,
        f"{folder}/scaling_cur_freq": str(now),
        f"{folder}/scaling_min_freq": str(lowest),
        f"{folder}/scaling_max_freq": str(highest),
    }


def cpu_times(cores: int, busy: int = 4000, idle: int = 90_000, stolen: int = 0) -> Files:
    """``/proc/stat`` in clock ticks, the same for every core."""

    def row(name: str, times: int) -> str:
        return f"{name} {busy * times} 0 0 {idle * times} 0 0 0 {stolen * times} 0 0"

    rows = [row("cpu ", cores), *(row(f"cpu{cpu}", 1) for cpu in range(cores))]
    return {"proc/stat": "\n".join([*rows, "intr 0", "ctxt 123456", "btime 1790000000", "processes 2000"])}


def paging(swapped_in: int = 0, major_faults: int = 1200) -> Files:
    """The lines of ``/proc/vmstat`` around those that matter."""
    return {
        "proc/vmstat": f"nr_free_pages 230000\npgpgin 480000\npswpin {swapped_in}\npswpout 0\npgfault 2500000\n"
        f"pgmajfault {major_faults}\nswap_ra 0"
    }


def memory(total_kib: int, available_kib: int) -> Files:
    """The first lines of ``/proc/meminfo``."""
    return {
        "proc/meminfo": f"MemTotal:       {total_kib:8} kB\nMemFree:        {available_kib // 2:8} kB\n"
        f"MemAvailable:   {available_kib:8} kB\nBuffers:           40000 kB"
    }


def swap(*areas: tuple[str, str, int, int]) -> Files:
    """``/proc/swaps``: path, kind, size and use in KiB."""
    heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority"
    return {
        "proc/swaps": "\n".join([heading, *(f"{path}\t{kind}\t{size}\t{used}\t-2" for path, kind, size, used in areas)])
    }


def zone(number: int, kind: str, millidegrees: int) -> Files:
    """One thermal zone."""
    folder = f"sys/class/thermal/thermal_zone{number}"
    return {f"{folder}/type": kind, f"{folder}/temp": str(millidegrees)}


def accounts(audio_members: str = "pi") -> Files:
    """The user ``pi`` and Debian's group ``audio``."""
    return {
        "etc/passwd": "root:x:0:0:root:/root:/bin/bash\npi:x:1000:1000:,,,:/home/pi:/bin/bash",
        "etc/group": f"root:x:0:\naudio:x:29:{audio_members}\npi:x:1000:",
    }


def microphone(card: int = 1, owner_pid: int | None = None) -> Files:
    """A USB microphone, by ``Documentation/sound/designs/procfile.rst``; held by a process, or free."""
    folder = f"proc/asound/card{card}"
    state = "closed" if owner_pid is None else f"state: RUNNING\nowner_pid   : {owner_pid}\ntrigger_time: 81.250"
    return {
        f"{folder}/id": "Device",
        f"{folder}/pcm0c/info": f"card: {card}\ndevice: 0\nsubdevice: 0\nstream: CAPTURE\nid: USB Audio\n"
        "name: USB Audio\nsubname: subdevice #0\nclass: 0\nsubclass: 0\nsubdevices_count: 1\nsubdevices_avail: 1",
        f"{folder}/pcm0c/sub0/status": state,
    }


def program(pid: int, *words: str) -> Files:
    """A process as its neighbours see it."""
    name = words[0].rpartition("/")[2][:15]
    return {f"proc/{pid}/comm": name, f"proc/{pid}/cmdline": "\0".join(words).encode() + b"\0"}


def own_group(controllers: str, path: str = "/system.slice/edge-asr.service") -> Files:
    """A machine with control groups of version 2 only, and the service's own group."""
    return {
        "proc/self/cgroup": f"0::{path}",
        "sys/fs/cgroup/cgroup.controllers": controllers,
        "sys/fs/cgroup/cpu.stat": "usage_usec 81235000\nuser_usec 60000000\nsystem_usec 21235000",
    }
