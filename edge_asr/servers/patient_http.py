"""HTTP connections that cannot be used up: a request's head has a deadline, and idle connections give way to new ones.

uvicorn keeps a connection that never finishes a head, and counts it against a limit beyond which it answers everybody
503, the health check too. Here a flood of idle connections only pushes out its own kind: a new connection closes the
one that has been idle longest, so that whoever asks something gets an answer. Those that are busy are bounded by what
they do: the websocket doors and the uploads count themselves.
"""

from __future__ import annotations

import asyncio
import logging

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from edge_asr.servers.crowd import is_crowding
from edge_asr.settings import LimitSettings

MOST_IDLE = 64
"""Connections without a request that are kept; keep-alive of ordinary clients, and room for port scanners."""

MOST_NEW = 256
"""Connections without a request while the oldest of them is new: many clients that come at one moment, whose requests
are about to be read, are not pushed out by each other."""

NEW_S = 1.0

_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n"
    b"limits.max_connections_per_address: too many connections from this address\n"
)

_UNREADABLE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n"
    b"a websocket's handshake takes lines of 8192 bytes at most, and 128 headers\n"
)

logger = logging.getLogger(__name__)


def patient_http(limits: LimitSettings) -> type[H11Protocol]:
    """The protocol class with these limits."""
    return type(
        "LimitedHttp",
        (_PatientHttp,),
        {"hello_timeout_s": limits.hello_timeout_s, "max_per_address": limits.max_connections_per_address},
    )


class _PatientHttp(H11Protocol):
    """One connection; uvicorn makes it, so its limits are attributes of the class."""

    hello_timeout_s: float
    max_per_address: int
    _deadline: asyncio.TimerHandle | None = None
    idle_since_s = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = _address_of(self)
        if is_crowding(address, map(_address_of, self.connections), self.max_per_address):
            logger.warning("http %s: more than %d connections from there", address, self.max_per_address)
            transport.write(_REFUSAL)
            transport.close()
            return
        self._await_head()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        # The timer would hold the connection in memory after its end: a thousand short ones would be felt.
        self._stop_waiting()
        super().handle_websocket_upgrade(event)
        # uvicorn says nothing, for ever, when the websocket library cannot read the head that it is handed on.
        failure = getattr(getattr(self.transport.get_protocol(), "conn", None), "handshake_exc", None)
        if failure is not None and not self.transport.is_closing():
            self.transport.write(_UNREADABLE)
            self.transport.close()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_head()

    @property
    def is_idle(self) -> bool:
        """Whether no request is being served."""
        return self.cycle is None or self.cycle.response_complete

    def _await_head(self) -> None:
        self._stop_waiting()
        self.idle_since_s = self.loop.time()
        if not self.transport.is_closing():
            self._deadline = self.loop.call_later(self.hello_timeout_s, self._close_silent)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()

    def _close_silent(self) -> None:
        if self in self.connections and self.is_idle:
            self.transport.abort()

    def _make_room(self) -> None:
        idle = [other for other in self.connections if isinstance(other, _PatientHttp) and other.is_idle]
        if len(idle) <= MOST_IDLE:
            return
        longest = min(idle, key=lambda other: other.idle_since_s)
        if len(idle) > MOST_NEW or self.loop.time() - longest.idle_since_s > NEW_S:
            longest.transport.abort()


def _address_of(connection: object) -> str:
    """Address of the other end; empty for a unix socket."""
    client = getattr(connection, "client", None)
    return str(client[0]) if client else ""
