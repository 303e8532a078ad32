"""TCP sockets: where a door listens, and how long the kernel waits for a peer that does not answer."""

from __future__ import annotations

import errno
import logging
import socket

from edge_asr.errors import AddressInUse

logger = logging.getLogger(__name__)

_IP_FREEBIND = 15
"""Linux; not in the socket module."""


def bind_tcp(host: str, port: int, *, patience_s: float) -> list[socket.socket]:
    """Bind every address of ``host``; nothing is accepted yet.

    Args:
        host: Name or address; ``0.0.0.0`` and ``::`` for all interfaces.
        port: 0 takes a free one, the same for all addresses.
        patience_s: A peer that leaves data unacknowledged or unread for so long is disconnected by the kernel.

    Raises:
        AddressInUse: The port is taken, not allowed, or the host has no address.
    """
    bound: list[socket.socket] = []
    try:
        for family, address in _addresses(host, port):
            free_port = bound[0].getsockname()[1] if bound else port
            bound.append(_bind(family, address, free_port, patience_s))
    except BaseException:
        for opened in bound:
            opened.close()
        raise
    return bound


def address_text(bound: socket.socket) -> str:
    """``127.0.0.1:8765`` or ``[::1]:8765``."""
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def be_patient(opened: socket.socket, patience_s: float) -> None:
    """Let connections to this socket last for so long without an answer, and no longer; they inherit it."""
    # A peer whose power went, or that reads nothing, does not stay for ever.
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, round(patience_s * 1000)))
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def why_not(error: OSError) -> str:
    """Why nobody can listen at an address; empty where another program already does."""
    if error.errno == errno.EADDRINUSE:
        return ""
    if error.errno == errno.EACCES:
        return "ports below 1024 need the capability CAP_NET_BIND_SERVICE"
    return error.strerror or str(error)


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, str]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError) as error:
        raise AddressInUse(f"{host}:{port}", f"no such host ({error})") from error
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))


def _bind(family: socket.AddressFamily, host: str, port: int, patience_s: float) -> socket.socket:
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        _configure(opened, patience_s)
        _bind_even_if_absent(opened, host, port)
    except OSError as error:
        opened.close()
        raise AddressInUse(f"{host}:{port}", why_not(error)) from error
    return opened


def _configure(opened: socket.socket, patience_s: float) -> None:
    opened.setblocking(False)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if opened.family == socket.AF_INET6:
        opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    be_patient(opened, patience_s)


def _bind_even_if_absent(opened: socket.socket, host: str, port: int) -> None:
    """At boot the network may come up after the daemon: listen on an address that is not there yet."""
    try:
        opened.bind((host, port))
    except OSError as error:
        if error.errno != errno.EADDRNOTAVAIL:
            raise
        opened.setsockopt(socket.SOL_IP, _IP_FREEBIND, 1)
        opened.bind((host, port))
        logger.warning("no interface has the address %s yet; listening for the moment it comes up", host)
