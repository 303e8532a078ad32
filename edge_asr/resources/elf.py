"""For which machine a program was built: the first bytes of its file, which is how a 32-bit system shows itself.

A Raspberry Pi may run a 64-bit kernel with 32-bit programs, and then the kernel's own name says nothing.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

_MACHINES = MappingProxyType({3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"})
"""``e_machine`` of elf(5)."""


@dataclass(frozen=True, slots=True)
class Program:
    """What an ELF header says."""

    bits: int
    """32 or 64."""
    machine: str


def read_program(path: Path) -> Program | None:
    """The header of a program; ``None`` when the file cannot be read or is no ELF file."""
    try:
        with path.open("rb") as file:
            header = file.read(20)
    except OSError:
        return None
    if len(header) < 20 or header[:4] != b"\x7fELF" or header[4] not in (1, 2):
        return None
    (machine,) = struct.unpack_from("<H" if header[5] == 1 else ">H", header, 18)
    return Program(bits=32 * header[4], machine=_MACHINES.get(machine, f"machine {machine}"))
