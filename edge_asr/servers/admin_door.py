"""The admin socket: ``/admin/...`` over HTTP on a unix socket, for those who may write to its file."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

from edge_asr.errors import ConfigurationError
from edge_asr.servers.activation import adopt, closing_on_refusal, listening_at, widest_host
from edge_asr.servers.admin import Administrator, admin_app
from edge_asr.servers.chosen_address import chosen_by
from edge_asr.servers.status import Door
from edge_asr.servers.unix import bind_unix, remove_unix
from edge_asr.servers.web import WebServer
from edge_asr.settings import LimitSettings


class AdminDoor:
    """Binding happens here; :meth:`open` begins to accept."""

    def __init__(self, path: Path | None, limits: LimitSettings, inherited: Sequence[int] = ()) -> None:
        """Bind the socket, or take the one that the service manager has opened.

        Args:
            path: Where to bind; not looked at where a socket is inherited.
            limits: On connections and requests.
            inherited: Descriptors.

        Raises:
            AddressInUse: Another daemon answers there, or the path cannot be used.
            ConfigurationError: An inherited descriptor cannot be used: it is reached through the network.
        """
        self._path: Path | None = None
        """A socket file of our own, to be taken away at the end."""
        self._limits = limits
        if inherited or path is None:
            self._sockets = _adopted(inherited, limits)
        else:
            self._path = path
            with chosen_by("server.admin_socket"):
                self._sockets = [bind_unix(path)]
        self._server: WebServer | None = None
        address = f"unix://{listening_at(self._sockets[0])}"
        self.description = Door("admin", address, "users of this machine who may write to the socket")

    async def open(self, administrator: Administrator) -> None:
        """Begin to accept connections."""
        self._server = WebServer(admin_app(administrator), self._limits, tls_cert="", tls_key="")
        await self._server.listen(self._sockets)

    async def close(self) -> None:
        """Close the door and all connections, and take the socket file away."""
        if self._server is not None:
            await self._server.close()
        for opened in self._sockets:
            opened.close()
        if self._path is not None:
            remove_unix(self._path)


def _adopted(inherited: Sequence[int], limits: LimitSettings) -> list[socket.socket]:
    sockets = adopt("admin", inherited, patience_s=limits.idle_timeout_s)
    with closing_on_refusal(sockets):
        if widest_host(sockets) is not None:
            raise ConfigurationError(
                "the admin door is for this machine: its socket unit needs ListenStream= with a path, not a port"
            )
    return sockets
