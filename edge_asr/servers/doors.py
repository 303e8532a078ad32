"""The doors of the daemon: a bound address, the rule of who may use it, and the server behind it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from edge_asr.errors import ConfigurationError
from edge_asr.protocols.wyoming_conversation import WyomingConversation, is_streamed
from edge_asr.resources.machine_id import stable_name
from edge_asr.servers.access import (
    UNIX_ACCESS,
    HttpAccess,
    PeerAccess,
    http_access,
    is_loopback,
    peer_access,
    unix_http_access,
)
from edge_asr.servers.activation import adopt, closing_on_refusal, listening_at, widest_host
from edge_asr.servers.chosen_address import chosen_by
from edge_asr.servers.discovery import Announcer, own_addresses
from edge_asr.servers.http import HttpServices, create_app
from edge_asr.servers.port import create_port_app
from edge_asr.servers.status import Door
from edge_asr.servers.stream import StreamServer
from edge_asr.servers.tcp import bind_tcp
from edge_asr.servers.unix import bind_unix, remove_unix
from edge_asr.servers.web import WebServer
from edge_asr.servers.websocket import OpenConversation, WebSocketDoor
from edge_asr.settings import LimitSettings, ServerSettings
from edge_asr.workers.base import Recognizer


class _WebDoor:
    """What serves HTTP or websockets at the sockets it has bound."""

    description: Door
    _option: str
    """What chooses its address."""
    _settings: ServerSettings
    _limits: LimitSettings
    _sockets: list[socket.socket]
    _server: WebServer | None = None

    async def _serve(self, app: ASGIApp) -> None:
        settings = self._settings
        self._server = WebServer(app, self._limits, tls_cert=settings.tls_cert, tls_key=settings.tls_key)
        with chosen_by(self._option, self.description.address):
            await self._server.listen(self._sockets)

    async def close(self) -> None:
        """Close the door and all connections."""
        if self._server is not None:
            await self._server.close()
        for bound in self._sockets:
            bound.close()


class HttpDoor(_WebDoor):
    """HTTP and websocket on one port. Binding happens here; :meth:`open` begins to accept."""

    _option = "--host and --port"

    def __init__(self, settings: ServerSettings, limits: LimitSettings, inherited: Sequence[int] = ()) -> None:
        """Bind the port, or take the sockets that the service manager has opened.

        Raises:
            ConfigurationError: The access rule is wrong, or an inherited descriptor cannot be used.
            AddressInUse: The port cannot be bound.
        """
        self._settings = settings
        self._limits = limits
        if inherited:
            self._sockets = adopt("http", inherited, patience_s=limits.idle_timeout_s)
            with closing_on_refusal(self._sockets):
                self.access = _http_access_to(self._sockets, settings)
        else:
            # The rule first: a door that may not open is not bound either.
            self.access = http_access(settings.host, settings.token_file, settings.insecure)
            with chosen_by(self._option):
                self._sockets = bind_tcp(settings.host, settings.port, patience_s=limits.idle_timeout_s)
        address = _address(self._sockets[0], "https" if settings.tls_cert else "http")
        self.description = Door("http", address, self.access.summary)

    async def open(self, services: HttpServices) -> None:
        """Begin to accept connections.

        Raises:
            ConfigurationError: The certificate cannot be used.
        """
        await self._serve(create_app(services))


class WyomingDoor:
    """Wyoming over TCP or a unix socket. Binding happens here; :meth:`open` begins to accept."""

    def __init__(self, settings: ServerSettings, limits: LimitSettings, inherited: Sequence[int] = ()) -> None:
        """Bind the address, or take the sockets that the service manager has opened.

        Raises:
            ConfigurationError: The address or the access rule is wrong, or an inherited descriptor cannot be used.
            AddressInUse: The address cannot be bound.
        """
        self._limits = limits
        self._path: Path | None = None
        """A socket file of our own, to be taken away at the end."""
        self._access: PeerAccess
        if inherited:
            self._sockets = adopt("wyoming", inherited, patience_s=limits.idle_timeout_s)
            with closing_on_refusal(self._sockets):
                self._access = _peer_access_to("wyoming", self._sockets, settings)
        else:
            self._path, host, port = _parse_uri(settings.wyoming)
            with chosen_by("--wyoming"):
                if self._path is not None:
                    self._access = UNIX_ACCESS
                    self._sockets = [bind_unix(self._path)]
                else:
                    self._access = peer_access("wyoming", host, settings.allow, settings.insecure)
                    self._sockets = bind_tcp(host, port, patience_s=limits.idle_timeout_s)
        self._server: StreamServer | None = None
        with closing_on_refusal(self._sockets):
            self._announcer = _announcer(self._sockets) if settings.zeroconf else None
        self._announcing: asyncio.Task[None] | None = None
        self.description = Door("wyoming", _address(self._sockets[0], "tcp"), self._access.summary)

    async def open(self, recognizer: Recognizer) -> None:
        """Begin to accept connections."""

        def can_stream() -> bool:
            ready = recognizer.status().ready
            return ready is not None and is_streamed(ready)

        def conversation() -> WyomingConversation:
            return WyomingConversation(self._limits.max_message_bytes, can_stream)

        self._server = StreamServer(conversation, recognizer, self._limits, self._access)
        with chosen_by("--wyoming", self.description.address):
            await self._server.listen(self._sockets)
        if self._announcer is not None:
            self._announcing = asyncio.create_task(self._announcer.run())

    def stop_accepting(self) -> None:
        """Close the door; who is in may stay."""
        if self._announcing is not None:
            self._announcing.cancel()
        if self._server is not None:
            self._server.stop_accepting()

    async def close(self) -> None:
        """Close the door and all connections."""
        if self._announcing is not None:
            self._announcing.cancel()
            await asyncio.gather(self._announcing, return_exceptions=True)
        if self._server is not None:
            await self._server.close()
        for bound in self._sockets:
            bound.close()
        if self._path is not None:
            remove_unix(self._path)


class PortDoor(_WebDoor):
    """One websocket protocol on a port of its own. Binding happens here; :meth:`open` begins to accept."""

    def __init__(
        self, name: str, port: int, settings: ServerSettings, limits: LimitSettings, inherited: Sequence[int] = ()
    ) -> None:
        """Bind the port at the address of the HTTP door, or take the sockets that the service manager has opened.

        Raises:
            ConfigurationError: The access rule is wrong, or an inherited descriptor cannot be used.
            AddressInUse: The port cannot be bound.
        """
        self._option = f"--{name}-port"
        self._settings = settings
        self._limits = limits
        self._access: PeerAccess
        if inherited:
            self._sockets = adopt(name, inherited, patience_s=limits.idle_timeout_s)
            with closing_on_refusal(self._sockets):
                self._access = _peer_access_to(name, self._sockets, settings)
        else:
            self._access = peer_access(name, settings.host, settings.allow, settings.insecure)
            with chosen_by(self._option):
                self._sockets = bind_tcp(settings.host, port, patience_s=limits.idle_timeout_s)
        scheme = "wss" if settings.tls_cert else "ws"
        self.description = Door(name, _address(self._sockets[0], scheme), self._access.summary)

    async def open(self, conversation: OpenConversation, recognizer: Recognizer, spool_directory: Path | None) -> None:
        """Begin to accept connections; what clients send faster than it is decoded waits in the directory.

        Raises:
            ConfigurationError: The certificate cannot be used.
        """
        door = WebSocketDoor(conversation, recognizer, self._limits, spool_directory)
        await self._serve(create_port_app(door, self._access))


def _announcer(sockets: Sequence[socket.socket]) -> Announcer:
    host = widest_host(sockets)
    if host is None or is_loopback(host):
        raise ConfigurationError(
            "server.zeroconf would announce a door that nobody else can reach: let server.wyoming listen beyond "
            "loopback, such as tcp://0.0.0.0:10300 with --allow 192.168.1.0/24, or leave zeroconf off"
        )
    return Announcer(stable_name(), sockets[0].getsockname()[1], lambda: own_addresses(host))


def _http_access_to(sockets: Sequence[socket.socket], settings: ServerSettings) -> HttpAccess:
    host = widest_host(sockets)
    if host is None:
        return unix_http_access(settings.token_file)
    return http_access(host, settings.token_file, settings.insecure)


def _peer_access_to(name: str, sockets: Sequence[socket.socket], settings: ServerSettings) -> PeerAccess:
    host = widest_host(sockets)
    return UNIX_ACCESS if host is None else peer_access(name, host, settings.allow, settings.insecure)


def _address(opened: socket.socket, scheme: str) -> str:
    """As a client would write it."""
    return f"{'unix' if opened.family == socket.AF_UNIX else scheme}://{listening_at(opened)}"


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
