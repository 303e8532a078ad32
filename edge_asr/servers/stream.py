"""Byte-stream doors, TCP or unix: accept, let in who may, and run a dialogue per connection."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Sequence
from typing import Any

from edge_asr.errors import EdgeAsrError, LimitExceeded, ProtocolViolation
from edge_asr.protocols.base import Conversation, Message
from edge_asr.servers.access import PeerAccess
from edge_asr.servers.crowd import is_crowding
from edge_asr.servers.dialogue import Dialogue, PeerGone
from edge_asr.settings import LimitSettings
from edge_asr.workers.base import Recognizer

logger = logging.getLogger(__name__)

READ_BYTES = 64 << 10
CLOSE_GRACE_S = 2.0
"""How long a closing connection may take to read our last words."""
SPARE_CONNECTIONS = 64
"""Connections beyond the sessions that may be open: they describe, ping, or are told that all sessions are in use."""
NEW_S = 1.0
"""What so young a connection has sent may not have been read yet: it keeps its place."""


class StreamLink:
    """A byte stream as a :class:`~edge_asr.servers.dialogue.Link`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.address = _address_of(writer.get_extra_info("peername"))
        self.opened_s = asyncio.get_running_loop().time()
        self.has_spoken = False
        """Whether anything ever came."""

    @property
    def peer(self) -> str:
        """Address of the other end; ``local`` for a unix socket."""
        return self.address or "local"

    async def receive(self) -> Message | None:
        """Some bytes, or ``None`` after the peer's last."""
        try:
            data = await self._reader.read(READ_BYTES)
        except OSError as error:
            raise PeerGone(str(error)) from error
        self.has_spoken = True
        return data or None

    def take(self) -> Message | None:
        """Nothing: what was read already is the library's secret."""
        return None

    async def send(self, message: Message) -> None:
        """Write bytes."""
        try:
            self._writer.write(message.encode() if isinstance(message, str) else message)
            await self._writer.drain()
        except OSError as error:
            raise PeerGone(str(error)) from error

    async def close(self, reason: EdgeAsrError | None) -> None:
        """Close in good order; after a refusal only when the peer had time to read it."""
        try:
            async with asyncio.timeout(CLOSE_GRACE_S):
                if reason is not None:
                    await self._read_out()
                self._writer.close()
                await self._writer.wait_closed()
        except (TimeoutError, OSError) as error:
            logger.debug("%s did not let itself be closed: %s", self.peer, error)

    def abort(self) -> None:
        """Close at once."""
        self._writer.transport.abort()

    def rest(self, *, is_resting: bool) -> None:
        """Nothing to do: bytes are taken off the socket as they come, and need not be asked for one by one."""

    async def _read_out(self) -> None:
        # Closing a socket that holds unread bytes resets the connection, and the peer would lose our last words.
        self._writer.write_eof()
        while await self._reader.read(READ_BYTES):
            pass


class StreamServer:
    """One byte-stream door."""

    def __init__(
        self,
        open_conversation: Callable[[], Conversation],
        recognizer: Recognizer,
        limits: LimitSettings,
        access: PeerAccess,
    ) -> None:
        self._open_conversation = open_conversation
        self._recognizer = recognizer
        self._limits = limits
        self._access = access
        self._listeners: list[asyncio.Server] = []
        self._connections: dict[asyncio.Task[Any], StreamLink] = {}
        """In the order in which they came."""

    async def listen(self, sockets: Sequence[socket.socket]) -> None:
        """Accept connections on bound sockets."""
        for bound in sockets:
            self._listeners.append(await asyncio.start_server(self._serve, sock=bound, limit=READ_BYTES))

    def stop_accepting(self) -> None:
        """Close the door; who is in may stay."""
        for listener in self._listeners:
            listener.close()

    async def close(self) -> None:
        """Close the door and all connections."""
        self.stop_accepting()
        connections = list(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a connection is served by a task")
        link = self._connections[task] = StreamLink(reader, writer)
        try:
            await self._converse(link)
        except asyncio.CancelledError:
            logger.debug(
                "the door closed"
            )  # the end of this task; asyncio of Python 3.11 calls a cancelled one a fault
        finally:
            link.abort()  # does nothing to a connection that was closed in good order
            del self._connections[task]

    async def _converse(self, link: StreamLink) -> None:
        conversation = self._open_conversation()
        refusal = self._refusal(link.address)
        if refusal is None:
            await Dialogue(link, conversation, self._recognizer, self._limits).run()
            return
        logger.warning("%s %s: %s", conversation.protocol, link.peer, refusal)
        with contextlib.suppress(PeerGone):
            for message in conversation.refused(refusal):
                await link.send(message)
        await link.close(refusal)

    def _refusal(self, address: str) -> EdgeAsrError | None:
        if not self._access.permits(address):
            return ProtocolViolation(f"clients at {address} may not use this door; add their network to server.allow")
        crowd = [link.address for link in self._connections.values()]
        if is_crowding(address, crowd, self._limits.max_connections_per_address):
            most = self._limits.max_connections_per_address
            return LimitExceeded(
                "limits.max_connections_per_address", f"{most + 1} connections of {address}", f"{most} connections"
            )
        most = self._limits.max_sessions + SPARE_CONNECTIONS
        if len(crowd) > most and not self._close_oldest_silent():
            return LimitExceeded("limits.max_sessions", f"{len(crowd)} connections", f"{most} connections")
        return None

    def _close_oldest_silent(self) -> bool:
        """Make room for who may have something to say; whether anybody had to go."""
        *others, newest = self._connections.values()
        last_s = newest.opened_s - NEW_S
        silent = next((link for link in others if not link.has_spoken and link.opened_s <= last_s), None)
        if silent is not None:
            silent.has_spoken = True  # its place is given away once
            silent.abort()
        return silent is not None


def _address_of(peername: Any) -> str:  # noqa: ANN401  asyncio gives a tuple for TCP and a string for unix sockets
    return str(peername[0]) if isinstance(peername, tuple) else ""
