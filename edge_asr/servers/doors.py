"""The doors of the daemon: a bound address, the rule of who may use it, and the server behind it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from edge_asr.errors import AddressInUse, ConfigurationError
from edge_asr.protocols.wyoming_conversation import WyomingConversation, is_streamed
from edge_asr.servers.access import UNIX_ACCESS, PeerAccess, http_access, peer_access
from edge_asr.servers.http import HttpServices, create_app
from edge_asr.servers.status import Door
from edge_asr.servers.stream import StreamServer
from edge_asr.servers.tcp import address_text, bind_tcp
from edge_asr.servers.unix import bind_unix, remove_unix
from edge_asr.servers.web import WebServer
from edge_asr.settings import LimitSettings, ServerSettings
from edge_asr.workers.base import Recognizer


class HttpDoor:
    """HTTP and websocket on one port. Binding happens here; :meth:`open` begins to accept."""

    def __init__(self, settings: ServerSettings, limits: LimitSettings) -> None:
        """Bind the port.

        Raises:
            ConfigurationError: The access rule is wrong.
            AddressInUse: The port cannot be bound.
        """
        self.access = http_access(settings.host, settings.token_file, settings.insecure)
        self._settings = settings
        self._limits = limits
        self._sockets = bind_tcp(settings.host, settings.port, patience_s=limits.idle_timeout_s)
        self._server: WebServer | None = None
        scheme = "https" if settings.tls_cert else "http"
        self.description = Door("http", f"{scheme}://{address_text(self._sockets[0])}", self.access.summary)

    async def open(self, services: HttpServices) -> None:
        """Begin to accept connections.

        Raises:
            ConfigurationError: The certificate cannot be used.
        """
        settings = self._settings
        self._server = WebServer(
            create_app(services), self._limits, tls_cert=settings.tls_cert, tls_key=settings.tls_key
        )
        with _naming(self.description.address):
            await self._server.listen(self._sockets)

    async def close(self) -> None:
        """Close the door and all connections."""
        if self._server is not None:
            await self._server.close()
        for bound in self._sockets:
            bound.close()


class WyomingDoor:
    """Wyoming over TCP or a unix socket. Binding happens here; :meth:`open` begins to accept."""

    def __init__(self, settings: ServerSettings, limits: LimitSettings) -> None:
        """Bind the address.

        Raises:
            ConfigurationError: The address or the access rule is wrong.
            AddressInUse: The address cannot be bound.
        """
        self._limits = limits
        self._path, host, port = _parse_uri(settings.wyoming)
        self._access: PeerAccess
        if self._path is not None:
            self._access = UNIX_ACCESS
            self._sockets = [bind_unix(self._path)]
            address = f"unix://{self._path}"
        else:
            self._access = peer_access(host, settings.allow, settings.insecure)
            self._sockets = bind_tcp(host, port, patience_s=limits.idle_timeout_s)
            address = f"tcp://{address_text(self._sockets[0])}"
        self._server: StreamServer | None = None
        self.description = Door("wyoming", address, self._access.summary)

    async def open(self, recognizer: Recognizer) -> None:
        """Begin to accept connections."""

        def can_stream() -> bool:
            ready = recognizer.status().ready
            return ready is not None and is_streamed(ready)

        def conversation() -> WyomingConversation:
            return WyomingConversation(self._limits.max_message_bytes, can_stream)

        self._server = StreamServer(conversation, recognizer, self._limits, self._access)
        with _naming(self.description.address):
            await self._server.listen(self._sockets)

    def stop_accepting(self) -> None:
        """Close the door; who is in may stay."""
        if self._server is not None:
            self._server.stop_accepting()

    async def close(self) -> None:
        """Close the door and all connections."""
        if self._server is not None:
            await self._server.close()
        for bound in self._sockets:
            bound.close()
        if self._path is not None:
            remove_unix(self._path)


@contextlib.contextmanager
def _naming(address: str) -> Iterator[None]:
    """Name the address that cannot be listened on: two doors may both bind the same one, and only one can listen."""
    try:
        yield
    except OSError as error:
        raise AddressInUse(address, error.strerror or str(error)) from error


def _parse_uri(uri: str) -> tuple[Path | None, str, int]:
    """Path of a unix socket, or host and port."""
    parts = urlsplit(uri)
    if parts.scheme == "unix" and parts.path and not parts.netloc:
        return Path(parts.path), "", 0
    try:
        if parts.scheme == "tcp" and parts.hostname and parts.port is not None:
            return None, parts.hostname, parts.port
    except ValueError:  # a port that is no number
        pass
    raise ConfigurationError(
        f"server.wyoming = {uri!r} is no address; write tcp://127.0.0.1:10300, unix:///run/edge-asr/wyoming.sock or off"
    )
