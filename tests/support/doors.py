"""Real doors on free ports, with a scripted recogniser behind them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import websockets
from websockets.asyncio.client import ClientConnection, connect

from edge_asr.listening.feed import Feed
from edge_asr.servers.admin import Administrator
from edge_asr.servers.doors import HttpDoor, PortDoor, WyomingDoor
from edge_asr.servers.http import HttpServices
from edge_asr.servers.routes import port_conversation, websocket_routes
from edge_asr.settings import LimitSettings, ServerSettings
from edge_asr.workers.base import Recognizer

LIMITS = LimitSettings(idle_timeout_s=20.0, hello_timeout_s=20.0)
"""Long enough never to matter in a test that is not about them."""

LOCAL = ServerSettings(port=0, wyoming="tcp://127.0.0.1:0")


@contextlib.asynccontextmanager
async def http_door(
    recognizer: Recognizer,
    *,
    limits: LimitSettings = LIMITS,
    spool_directory: Path | None = None,
    microphone: Feed | None = None,
    administrator: Administrator | None = None,
    **settings: Any,
) -> AsyncIterator[str]:
    """Base address of an open HTTP door."""
    door = HttpDoor(replace(LOCAL, **settings), limits)
    await door.open(
        HttpServices(
            recognizer=recognizer,
            limits=limits,
            access=door.access,
            metrics=lambda: (b"edge_asr_up 1\n", "text/plain"),
            status=lambda: {"state": recognizer.status().state},
            spool_directory=spool_directory,
            websockets=websocket_routes(limits),
            microphone=microphone,
            administrator=administrator,
        )
    )
    try:
        yield door.description.address
    finally:
        await door.close()


@contextlib.asynccontextmanager
async def wyoming_door(
    recognizer: Recognizer, *, limits: LimitSettings = LIMITS, **settings: Any
) -> AsyncIterator[str]:
    """URI of an open Wyoming door."""
    door = WyomingDoor(replace(LOCAL, **settings), limits)
    await door.open(recognizer)
    try:
        yield door.description.address
    finally:
        await door.close()


@contextlib.asynccontextmanager
async def port_door(
    name: str, recognizer: Recognizer, *, limits: LimitSettings = LIMITS, **settings: Any
) -> AsyncIterator[str]:
    """Address of an open port for the protocol of this name alone."""
    door = PortDoor(name, 0, replace(LOCAL, **settings), limits)
    await door.open(port_conversation(name, limits), recognizer, None)
    try:
        yield door.description.address
    finally:
        await door.close()


def websocket_client(base: str, path: str, **options: Any) -> connect:
    """A websocket client of the HTTP door."""
    return connect(base.replace("http", "ws", 1) + path, compression=None, **options)


def native_client(base: str, **options: Any) -> connect:
    """A websocket client of the native protocol."""
    return websocket_client(base, "/v1/stream", **options)


async def read_messages(client: ClientConnection) -> list[dict[str, Any]]:
    """Every message until the server closes."""
    messages = []
    with contextlib.suppress(websockets.ConnectionClosed):
        while True:
            messages.append(json.loads(await client.recv()))
    return messages


def open_descriptors() -> int:
    """File descriptors of this process."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
