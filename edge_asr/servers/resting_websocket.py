"""Websockets that are read a little later while their sessions rest: one wake of the process for many messages.

uvicorn stops reading a socket when a message has come, and reads on when it is asked for the next one. Here that may
wait for a moment, so that what comes meanwhile is read at once. An application finds how to ask for it in its scope.
While a session does not rest, reading stops only where messages are large or are not taken: stopping and going on
costs system calls, with each of the small ones that live audio comes in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from uvicorn._types import ASGIReceiveEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

REST_S = 0.18
"""Between two looks at a resting connection."""

UNTAKEN = 4
"""Small messages that may wait to be taken before reading stops."""

SMALL_BYTES = 16 << 10
"""A tenth of a second of any live audio is less."""

_EXTENSION = "edge_asr.rest"

Rest = Callable[[bool], None]
"""Told whether messages may be taken a little later than they come."""


class RestingWebSocket(WebSocketsSansIOProtocol):
    """One connection; uvicorn makes it."""

    _is_resting = False
    _reading_on: asyncio.TimerHandle | None = None

    async def run_asgi(self) -> None:
        """Let the application ask for it, then run it."""
        extensions: dict[str, Any] = self.scope["extensions"]
        extensions[_EXTENSION] = self._rest
        await super().run_asgi()

    def send_receive_event_to_app(self) -> None:
        """Let a message be taken; reading stops where too many wait."""
        is_small = sum(map(len, self.frames)) <= SMALL_BYTES
        may_go_on = is_small and not (self._is_resting or self.read_paused or self.queue.qsize() >= UNTAKEN)
        self.read_paused = self.read_paused or may_go_on  # uvicorn stops reading where it has not
        super().send_receive_event_to_app()
        self.read_paused = self.read_paused and not may_go_on

    async def receive(self) -> ASGIReceiveEvent:
        """The next message; reading goes on when all that was read has been taken, at once or in a moment."""
        message = await self.queue.get()
        if self.read_paused and self.queue.empty():
            if not self._is_resting:
                self._read_on()
            elif self._reading_on is None:
                self._reading_on = self.loop.call_later(REST_S, self._read_on)
        return message

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing will come any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _rest(self, is_resting: bool) -> None:
        self._is_resting = is_resting
        if not is_resting and self._reading_on is not None:
            self._read_on()

    def _read_on(self) -> None:
        self._stop_waiting()
        self.read_paused = False
        self.transport.resume_reading()

    def _stop_waiting(self) -> None:
        if self._reading_on is not None:
            self._reading_on.cancel()
            self._reading_on = None


def rest_of(scope: Mapping[str, Any]) -> Rest:
    """How the connection with this scope is told; without effect where it is no such connection."""
    rest: Rest = scope.get("extensions", {}).get(_EXTENSION, _unheard)
    return rest


def _unheard(_is_resting: bool) -> None:
    """This server does not know how to."""
