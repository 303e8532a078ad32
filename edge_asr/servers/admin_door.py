"""The admin socket: ``/admin/...`` over HTTP on a unix socket, for those who may write to its file."""

from __future__ import annotations

from pathlib import Path

from edge_asr.servers.admin import Administrator, admin_app
from edge_asr.servers.status import Door
from edge_asr.servers.unix import bind_unix, remove_unix
from edge_asr.servers.web import WebServer
from edge_asr.settings import LimitSettings


class AdminDoor:
    """Binding happens here; :meth:`open` begins to accept."""

    def __init__(self, path: Path, limits: LimitSettings) -> None:
        """Bind the socket.

        Raises:
            AddressInUse: Another daemon answers there, or the path cannot be used.
        """
        self._path = path
        self._limits = limits
        self._socket = bind_unix(path)
        self._server: WebServer | None = None
        self.description = Door("admin", f"unix://{path}", "users of this machine who may write to the socket")

    async def open(self, administrator: Administrator) -> None:
        """Begin to accept connections."""
        self._server = WebServer(admin_app(administrator), self._limits, tls_cert="", tls_key="")
        await self._server.listen([self._socket])

    async def close(self) -> None:
        """Close the door and all connections, and take the socket file away."""
        if self._server is not None:
            await self._server.close()
        self._socket.close()
        remove_unix(self._path)
