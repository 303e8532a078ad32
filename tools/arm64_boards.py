"""The ARM cores that are emulated, and what the kernel of a board with such cores says about them.

onnxruntime chooses its kernels by ``/proc/cpuinfo``, and crashes on the text of another architecture.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

CORES_PER_BOARD = 4


@dataclass(frozen=True, slots=True)
class Board:
    """A Raspberry Pi, as its kernel describes it."""

    model: str
    revision: str
    """The board's own code, not that of its cores."""
    features: str
    bogomips: float
    cpu_variant: int
    cpu_part: int
    cpu_revision: int

    def cpuinfo(self) -> str:
        """The text of ``/proc/cpuinfo``."""
        cores = (
            f"processor\t: {number}\n"
            f"BogoMIPS\t: {self.bogomips:.2f}\n"
            f"Features\t: {self.features}\n"
            "CPU implementer\t: 0x41\n"
            "CPU architecture: 8\n"
            f"CPU variant\t: {self.cpu_variant:#x}\n"
            f"CPU part\t: {self.cpu_part:#05x}\n"
            f"CPU revision\t: {self.cpu_revision}\n"
            for number in range(CORES_PER_BOARD)
        )
        return "\n".join([*cores, f"Revision\t: {self.revision}\nModel\t\t: {self.model}\n"])


def write_board(root: Path, board: Board) -> None:
    """Write the kernel's words on a board to where they stand below ``/``."""
    _write(root / "proc/cpuinfo", board.cpuinfo())
    _write(root / "sys/firmware/devicetree/base/model", f"{board.model}\0")
    for name in ("possible", "present"):
        _write(root / "sys/devices/system/cpu" / name, f"0-{CORES_PER_BOARD - 1}\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


BOARDS = {
    "cortex-a53": Board(
        model="Raspberry Pi 3 Model B Rev 1.2",
        revision="a02082",
        features="fp asimd evtstrm crc32 cpuid",
        bogomips=38.40,
        cpu_variant=0x0,
        cpu_part=0xD03,
        cpu_revision=4,
    ),
    "cortex-a72": Board(
        model="Raspberry Pi 4 Model B Rev 1.4",
        revision="c03114",
        features="fp asimd evtstrm crc32 cpuid",
        bogomips=108.00,
        cpu_variant=0x0,
        cpu_part=0xD08,
        cpu_revision=3,
    ),
    "cortex-a76": Board(
        model="Raspberry Pi 5 Model B Rev 1.0",
        revision="c04170",
        features=("fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp"),
        bogomips=108.00,
        cpu_variant=0x4,
        cpu_part=0xD0B,
        cpu_revision=1,
    ),
}
"""From the name of a core, as qemu spells it, to the board that has four of them."""
