"""Sockets that accept connections on this machine, and the process behind each.

Whose process it is shows only to its owner and to root.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from edge_asr.resources.procfs import read_text

_LISTEN = "0A"
_ACCEPTS = 0x10000
"""``__SO_ACCEPTCON`` of ``/proc/net/unix``."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening socket."""

    address: str
    """An IP address, or the path of a unix socket."""
    port: int | None
    """``None`` for a unix socket."""
    pid: int | None
    """``None`` when we may not know."""


def read_listeners(root: Path = Path("/")) -> tuple[Listener, ...]:
    """Every listening TCP and unix socket."""
    owners = _owners(root)
    found = (*_tcp(root / "proc/net/tcp"), *_tcp(root / "proc/net/tcp6"), *_unix(root / "proc/net/unix"))
    return tuple(Listener(address, port, owners.get(inode)) for address, port, inode in found)


def _tcp(path: Path) -> Iterator[tuple[str, int, str]]:
    for line in (read_text(path) or "").splitlines()[1:]:
        columns = line.split()
        if columns[3] == _LISTEN:
            address, _, port = columns[1].partition(":")
            yield _ip_address(address), int(port, 16), columns[9]


def _ip_address(words: str) -> str:
    """From the kernel's words of 32 bits, printed as numbers of this machine's byte order."""
    numbers = (int(words[start : start + 8], 16) for start in range(0, len(words), 8))
    packed = b"".join(struct.pack("=I", number) for number in numbers)
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)


def _unix(path: Path) -> Iterator[tuple[str, None, str]]:
    for line in (read_text(path) or "").splitlines()[1:]:
        columns = line.split(maxsplit=7)
        if len(columns) > 7 and int(columns[3], 16) & _ACCEPTS:
            yield columns[7], None, columns[6]


def _owners(root: Path) -> Mapping[str, int]:
    """Processes by the inode number of each socket they have open."""
    owners: dict[str, int] = {}
    for descriptors in (root / "proc").glob("[0-9]*/fd"):
        for link in _links(descriptors):
            if link.startswith("socket:["):
                owners.setdefault(link[len("socket:[") : -1], int(descriptors.parent.name))
    return owners


def _links(descriptors: Path) -> Iterator[str]:
    try:
        for entry in descriptors.iterdir():
            yield os.readlink(entry)  # noqa: PTH115  Path.readlink would make a path of what is none
    except OSError:
        return  # somebody else's process, or one that ended meanwhile
