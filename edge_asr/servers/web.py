"""The HTTP server itself: uvicorn, embedded, quiet, and without its hands on signals or logging."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import Iterator, Sequence

import uvicorn
from starlette.types import ASGIApp

from edge_asr.errors import ConfigurationError
from edge_asr.servers.patient_http import patient_http
from edge_asr.servers.resting_websocket import RestingWebSocket
from edge_asr.servers.websocket import LIBRARY_SLACK
from edge_asr.settings import LimitSettings

PING_INTERVAL_S = 20.0
"""Keeps websockets open through proxies. There is no deadline for the pong: it stands in line behind audio that a
client sent faster than it is decoded. Dead peers are found by the idle limit and by the kernel."""

CLOSE_GRACE_S = 3
TICK_S = 1.0


class WebServer:
    """Serves an application on bound sockets."""

    def __init__(self, app: ASGIApp, limits: LimitSettings, *, tls_cert: str, tls_key: str) -> None:
        """Prepare the server.

        Raises:
            ConfigurationError: The certificate or its key cannot be used.
        """
        self._config = _config(app, limits, tls_cert, tls_key)
        self._server = _Server(self._config)
        self._sockets: Sequence[socket.socket] = ()
        self._ticking: asyncio.Task[None] | None = None

    async def listen(self, sockets: Sequence[socket.socket]) -> None:
        """Accept connections."""
        self._sockets = sockets
        self._server.lifespan = self._config.lifespan_class(self._config)
        await self._server.startup(sockets=list(sockets))
        self._ticking = asyncio.create_task(self._tick())

    async def close(self) -> None:
        """Close the door and all connections."""
        if self._ticking is None:
            return
        self._ticking.cancel()
        await asyncio.gather(self._ticking, return_exceptions=True)
        await self._server.shutdown(sockets=list(self._sockets))

    async def _tick(self) -> None:
        # uvicorn's own loop wakes ten times a second; all it has to do for us is to keep the Date header right.
        while True:
            await self._server.on_tick(0)
            await asyncio.sleep(TICK_S)


class _Server(uvicorn.Server):
    """Signals belong to the daemon."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _config(app: ASGIApp, limits: LimitSettings, tls_cert: str, tls_key: str) -> uvicorn.Config:
    _quieten_uvicorn()
    config = uvicorn.Config(
        app,
        http=patient_http(limits),
        ws=RestingWebSocket,
        ws_max_size=limits.max_message_bytes * LIBRARY_SLACK,
        ws_ping_interval=PING_INTERVAL_S,
        ws_ping_timeout=None,
        # Audio does not compress, and a compressed message can be far larger than it looks.
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=CLOSE_GRACE_S,
        ssl_certfile=tls_cert or None,
        ssl_keyfile=tls_key or None,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(
            f"server.tls_cert {tls_cert} with server.tls_key {tls_key} cannot be used: {error.strerror or error}"
        ) from error
    return config


def _quieten_uvicorn() -> None:
    """Errors only: its warnings are about what clients sent, and every port scan would write to the log."""
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    errors = logging.getLogger("uvicorn.error")
    if _is_worth_a_line not in errors.filters:
        errors.addFilter(_is_worth_a_line)


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    # uvicorn takes a websocket that was refused with an HTTP response for a fault of the application.
    return "without completing handshake" not in record.getMessage()
