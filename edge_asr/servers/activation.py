"""Sockets that the service manager opened before us and hands over, as ``sd_listen_fds(3)`` says.

The names of the descriptors (``FileDescriptorName=`` of the socket unit, else the unit's own name) say which door each
one is for. Which clients a door lets in is judged by where its socket really listens, not by the configured address.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence

from edge_asr.errors import ConfigurationError, EdgeAsrError
from edge_asr.servers.access import is_loopback
from edge_asr.servers.tcp import address_text, be_patient

FIRST_DESCRIPTOR = 3
UNNAMED = "unknown"
"""What systemd calls descriptors that came without a name."""


def inherited_descriptors(
    environment: Mapping[str, str], pid: int, doors: Iterable[str]
) -> Mapping[str, tuple[int, ...]]:
    """Name of the door to its descriptors; those without a name are for the first door.

    Args:
        environment: ``LISTEN_FDS``, ``LISTEN_PID`` and ``LISTEN_FDNAMES`` are read.
        pid: Of this process; descriptors for another one do not concern us.
        doors: Names of the doors there are.

    Raises:
        ConfigurationError: A variable cannot be read, or a name is that of no door.
    """
    if environment.get("LISTEN_PID", "") != str(pid):
        return {}
    known = tuple(doors)
    count = _count(environment.get("LISTEN_FDS", "0"))
    names = environment.get("LISTEN_FDNAMES", "").split(":") if environment.get("LISTEN_FDNAMES") else []
    found: dict[str, tuple[int, ...]] = {}
    for index in range(count):
        door = _door(names[index] if index < len(names) else UNNAMED, known)
        found[door] = (*found.get(door, ()), FIRST_DESCRIPTOR + index)
    return found


def adopt(door: str, descriptors: Sequence[int], *, patience_s: float) -> list[socket.socket]:
    """The inherited sockets of one door, ready to be accepted on.

    Args:
        door: For the error.
        descriptors: As :func:`inherited_descriptors` gives them.
        patience_s: As for sockets that we bind ourselves.

    Raises:
        ConfigurationError: One is not a stream socket that listens.
    """
    return [_adopted(door, descriptor, patience_s) for descriptor in descriptors]


def listening_at(opened: socket.socket) -> str:
    """``127.0.0.1:8765`` or the path of a unix socket."""
    return str(opened.getsockname()) if opened.family == socket.AF_UNIX else address_text(opened)


def widest_host(sockets: Sequence[socket.socket]) -> str | None:
    """The host by which clients from furthest away may come; ``None`` when all are unix sockets."""
    hosts = [str(opened.getsockname()[0]) for opened in sockets if opened.family != socket.AF_UNIX]
    return next((host for host in hosts if not is_loopback(host)), hosts[0] if hosts else None)


@contextlib.contextmanager
def closing_on_refusal(sockets: Sequence[socket.socket]) -> Iterator[None]:
    """Close what was adopted when it cannot be used after all."""
    try:
        yield
    except EdgeAsrError:
        for opened in sockets:
            opened.close()
        raise


def _adopted(door: str, descriptor: int, patience_s: float) -> socket.socket:
    try:
        os.set_inheritable(descriptor, False)  # workers must not keep the door open
        opened = socket.socket(fileno=descriptor)
    except OSError as error:
        raise ConfigurationError(
            f"descriptor {descriptor} for the door {door!r} is no socket ({error.strerror}); see LISTEN_FDS"
        ) from error
    if opened.type != socket.SOCK_STREAM or not opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        opened.close()
        raise ConfigurationError(
            f"descriptor {descriptor} for the door {door!r} accepts no connections; its socket unit needs "
            "ListenStream= and Accept=no"
        )
    opened.setblocking(False)
    if opened.family != socket.AF_UNIX:
        be_patient(opened, patience_s)
    return opened


def _count(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ConfigurationError(f"LISTEN_FDS={text!r} is not a whole number") from error


def _door(name: str, known: Sequence[str]) -> str:
    if name in ("", UNNAMED):
        return known[0]
    door = name.removesuffix(".socket").removeprefix("edge-asr-")
    if door in known:
        return door
    raise ConfigurationError(
        f"a socket is named {name!r}, which is no door; write FileDescriptorName= with one of: {', '.join(known)}"
    )
