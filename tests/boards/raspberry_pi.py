"""Raspberry Pi 3, 4 and 5 with Raspberry Pi OS.

- ``/proc/cpuinfo``: public dumps at https://github.com/hrw/arm-socs-table/issues: 29 (Pi 3 B+, 64-bit), 31 (Pi 4 with a
  32-bit system), 96 (Pi 5); the 64-bit text of the Pi 4 from https://github.com/fastfetch-cli/fastfetch/issues/1529.
- ``get_throttled``: place and notation (hexadecimal without prefix) from https://github.com/raspberrypi/linux/pull/2397
  and https://github.com/custom-components/sensor.rpi_power/issues/6; on a Pi 5 the device tree calls the parent
  ``soc@107c000000`` (``bcm2712.dtsi``).
- Kernel of the Pi 5 with pages of 16 KiB: https://github.com/raspberrypi/linux/issues/2986.
- Frequencies: the boards' data sheets; ``cpufreq-dt`` and ``ondemand`` are what Raspberry Pi OS ships.
- Sound: the HDMI output of every Pi and a USB microphone.
- ``cgroup.controllers`` without ``memory``: the firmware puts ``cgroup_disable=memory`` into the
  command line (https://github.com/raspberrypi/linux/issues/6980).
"""

from __future__ import annotations

from pathlib import Path

from tests.boards.tree import (
    AARCH64,
    ARM,
    CPU,
    Files,
    accounts,
    core,
    cpu_times,
    kernel,
    memory,
    microphone,
    own_group,
    paging,
    policy,
    process,
    swap,
    write_tree,
    zone,
)

_A53 = ("fp asimd evtstrm crc32 cpuid", "8", "0x0", "0xd03", "4")
_A72 = ("fp asimd evtstrm crc32 cpuid", "8", "0x0", "0xd08", "3")
_A72_32_BIT = (
    "half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt vfpd32 lpae evtstrm crc32",
    "7",
    "0x0",
    "0xd08",
    "3",
)
_A76 = (
    "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp",
    "8",
    "0x4",
    "0xd0b",
    "1",
)
"""Features, architecture, variant, part, revision."""


def raspberry_pi_3(root: Path, allowed: str = "0-3") -> Path:
    """Pi 3 B+: four Cortex-A53, 1 GB, swap in a file on the SD card."""
    return write_tree(
        root,
        _board("Raspberry Pi 3 Model B Plus Rev 1.3", _A53, "a020d3", 1_400_000, allowed)
        | _firmware("soc/soc:firmware")
        | kernel("6.6.31+rpt-rpi-v8", "aarch64")
        | process(allowed, AARCH64)
        | memory(930_000, 640_000)
        | swap(("/var/swap", "file", 102_396, 0))
        | zone(0, "cpu-thermal", 52_616),
    )


def raspberry_pi_4(root: Path, allowed: str = "0-3") -> Path:
    """Pi 4 B with 4 GB: four Cortex-A72."""
    return write_tree(
        root,
        _board("Raspberry Pi 4 Model B Rev 1.5", _A72, "d03115", 1_800_000, allowed)
        | _firmware("soc/soc:firmware")
        | kernel("6.6.31+rpt-rpi-v8", "aarch64")
        | process(allowed, AARCH64)
        | memory(3_885_396, 3_433_192)
        | swap(("/var/swap", "file", 102_396, 0))
        | zone(0, "cpu-thermal", 48_312),
    )


def raspberry_pi_4_with_32_bit_system(root: Path) -> Path:
    """The same board with the 32-bit Raspberry Pi OS of 2022, whose kernel cannot name its architecture."""
    raspberry_pi_4(root)
    (root / "proc/sys/kernel/arch").unlink()
    return write_tree(
        root,
        _cpuinfo("Raspberry Pi 4 Model B Rev 1.2", _A72_32_BIT, "c03112")
        | kernel("5.15.61-v7l+")
        | process("0-3", ARM, bits=32),
    )


def raspberry_pi_5(root: Path, allowed: str = "0-3") -> Path:
    """Pi 5 with 8 GB: four Cortex-A76, pages of 16 KiB, swap in compressed memory as newer systems have it."""
    return write_tree(
        root,
        _board("Raspberry Pi 5 Model B Rev 1.0", _A76, "d04170", 2_400_000, allowed)
        | _firmware("soc@107c000000/soc@107c000000:firmware")
        | kernel("6.6.31+rpt-rpi-2712", "aarch64")
        | process(allowed, AARCH64, page_size=16_384)
        | memory(8_256_000, 7_100_000)
        | swap(("/dev/zram0", "partition", 2_097_136, 0))
        | zone(0, "cpu-thermal", 50_450),
    )


def _board(model: str, kind: tuple[str, ...], revision: str, max_khz: int, allowed: str) -> Files:
    files = _cpuinfo(model, kind, revision) | own_group("cpuset cpu io pids") | cpu_times(4) | paging() | _sd_card()
    files |= {"proc/device-tree/model": model.encode() + b"\0", f"{CPU}/online": "0-3"}
    files |= policy(range(4), "ondemand", "cpufreq-dt", (600_000, 600_000, max_khz))
    files |= accounts() | microphone() | {"proc/asound/card0/pcm0p/info": "card: 0\nstream: PLAYBACK\nid: MAI PCM"}
    files["proc/cmdline"] = "console=tty1 root=PARTUUID=4e639091-02 rootfstype=ext4 cgroup_disable=memory rootwait"
    for cpu in range(4):
        files |= core(cpu, str(cpu), max_khz)
    return files


def _cpuinfo(model: str, kind: tuple[str, ...], revision: str) -> Files:
    features, architecture, variant, part, part_revision = kind
    blocks = [
        f"processor\t: {cpu}\nBogoMIPS\t: 108.00\nFeatures\t: {features}\nCPU implementer\t: 0x41\n"
        f"CPU architecture: {architecture}\nCPU variant\t: {variant}\nCPU part\t: {part}\n"
        f"CPU revision\t: {part_revision}\n"
        for cpu in range(4)
    ]
    return {"proc/cpuinfo": "\n".join([*blocks, f"Hardware\t: BCM2835\nRevision\t: {revision}\nModel\t\t: {model}"])}


def _firmware(device: str) -> Files:
    return {f"sys/devices/platform/{device}/get_throttled": "0"}


def _sd_card() -> Files:
    return {
        "sys/block/mmcblk0/device/type": "SD",
        "sys/block/mmcblk0/dev": "179:0",
        "sys/block/mmcblk0/mmcblk0p1/dev": "179:1",
        "sys/block/mmcblk0/mmcblk0p2/dev": "179:2",
        "proc/self/mountinfo": "21 1 179:2 / / rw,noatime shared:1 - ext4 /dev/mmcblk0p2 rw\n"
        "22 21 0:20 / /proc rw,nosuid - proc proc rw\n"
        "30 21 179:1 / /boot/firmware rw,relatime - vfat /dev/mmcblk0p1 rw",
    }
