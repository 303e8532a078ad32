"""A Radxa Rock 5B: Rockchip RK3588, big.LITTLE.

- ``/proc/cpuinfo``: public dump at https://github.com/hrw/arm-socs-table/issues/18. The A76's features are those of
  the Pi 5's dump: the excerpt at hand shows the A55 only, and both cores have the same words there.
- Policies 0, 4 and 6: https://github.com/MichaIng/DietPi/issues/6989; the speed bins of the A76 pairs differ from chip
  to chip. ``cpu_capacity``: ``capacity-dmips-mhz`` of ``rk3588s.dtsi`` scaled to the fastest core.
- Zones: ``rk3588s.dtsi`` of the vendor's kernel, which also brings eMMC and control groups with memory.
"""

from __future__ import annotations

from pathlib import Path

from tests.boards.tree import (
    AARCH64,
    CPU,
    Files,
    core,
    cpu_times,
    kernel,
    memory,
    own_group,
    paging,
    policy,
    process,
    swap,
    write_tree,
    zone,
)

_FEATURES = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp"


def rk3588(root: Path, allowed: str = "0-7", online: str = "0-7") -> Path:
    """Four Cortex-A55 (0-3) and two pairs of Cortex-A76 (4-5, 6-7) of slightly different speed bins."""
    files = process(allowed, AARCH64) | kernel("5.10.160-rockchip") | own_group("cpuset cpu io memory hugetlb pids")
    files |= cpu_times(8) | paging() | memory(8_129_000, 7_300_000) | swap() | _cpuinfo() | _emmc()
    files |= {"proc/device-tree/model": b"Radxa ROCK 5B\0", f"{CPU}/online": online}
    files |= policy(range(4), "schedutil", "cpufreq-dt", (408_000, 1_800_000, 1_800_000))
    files |= policy((4, 5), "schedutil", "cpufreq-dt", (408_000, 2_304_000, 2_304_000))
    files |= policy((6, 7), "schedutil", "cpufreq-dt", (408_000, 2_352_000, 2_352_000))
    files |= zone(0, "soc-thermal", 44_384) | zone(1, "bigcore0-thermal", 46_230) | zone(2, "bigcore1-thermal", 45_307)
    for cpu in range(4):
        files |= core(cpu, str(cpu), 1_800_000, 414)
    for cpu in (4, 5):
        files |= core(cpu, str(cpu), 2_304_000, 1024)
    for cpu in (6, 7):
        files |= core(cpu, str(cpu), 2_352_000, 1024)
    return write_tree(root, files)


def _cpuinfo() -> Files:
    kinds = [("0x2", "0xd05", "0")] * 4 + [("0x4", "0xd0b", "0")] * 4
    blocks = [
        f"processor\t: {cpu}\nBogoMIPS\t: 48.00\nFeatures\t: {_FEATURES}\nCPU implementer\t: 0x41\n"
        f"CPU architecture: 8\nCPU variant\t: {variant}\nCPU part\t: {part}\nCPU revision\t: {revision}\n"
        for cpu, (variant, part, revision) in enumerate(kinds)
    ]
    return {"proc/cpuinfo": "\n".join(blocks)}


def _emmc() -> Files:
    return {
        "sys/block/mmcblk0/device/type": "MMC",
        "sys/block/mmcblk0/dev": "179:0",
        "sys/block/mmcblk0/mmcblk0p1/dev": "179:1",
        "proc/self/mountinfo": "21 1 179:1 / / rw,noatime shared:1 - ext4 /dev/mmcblk0p1 rw",
    }
