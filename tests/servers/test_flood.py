"""Floods of connections and slow clients at the HTTP door: the health check always answers. The sockets are real."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import pytest

from edge_asr.servers.patient_http import MOST_IDLE
from edge_asr.settings import LimitSettings
from tests.support.doors import LIMITS, http_door, native_client
from tests.support.recognizer import ScriptedRecognizer

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
HALF_A_HEAD = b"GET /status HTTP/1.1\r\nHost: x\r\n"
FLOOD = 300
ELSEWHERE = "192.0.2.1"
"""An address of nobody, to find the interface by which the world would be reached."""


def own_address() -> str | None:
    """An address of this machine that is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((ELSEWHERE, 9))
        except OSError:
            return None
        return str(probe.getsockname()[0])


async def connect(base: str, host: str | None = None) -> Connection:
    parts = urlsplit(base)
    return await asyncio.open_connection(host or parts.hostname, parts.port)


@contextlib.asynccontextmanager
async def flood(base: str, said: bytes = b"") -> AsyncIterator[list[Connection]]:
    held = [await connect(base) for _ in range(FLOOD)]
    for _, writer in held:
        writer.write(said)
    try:
        yield held
    finally:
        for _, writer in held:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


async def health(base: str) -> int:
    async with httpx.AsyncClient(base_url=base) as client:
        return (await client.get("/health/live")).status_code


def post_large(base: str) -> int:
    """Status of an upload by a client that writes everything before it reads, as most do."""
    parts = urlsplit(base)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    try:
        connection.request("POST", "/v1/audio/transcriptions", bytes(8 << 20), {"Content-Type": "audio/wav"})
        return connection.getresponse().status
    finally:
        connection.close()


async def test_a_refused_upload_is_answered_and_not_cut_off() -> None:
    async with http_door(ScriptedRecognizer(max_sessions=0)) as base:
        assert await asyncio.to_thread(post_large, base) == 503
    async with http_door(ScriptedRecognizer()) as base:
        assert await asyncio.to_thread(post_large, base) == 415


@pytest.mark.parametrize("said", [b"", HALF_A_HEAD], ids=["nothing", "half a head"])
async def test_health_answers_while_idle_connections_pile_up(said: bytes) -> None:
    limits = LimitSettings(max_sessions=1, hello_timeout_s=20)
    async with http_door(ScriptedRecognizer(), limits=limits) as base, flood(base, said) as held:
        assert await health(base) == 200
        oldest, newest = held[0][0], held[-1][0]
        with contextlib.suppress(ConnectionResetError):
            assert await oldest.read() == b""
        assert not newest.at_eof()


async def test_clients_that_come_at_one_moment_are_all_answered() -> None:
    async with http_door(ScriptedRecognizer()) as base:
        held = await asyncio.gather(*(connect(base) for _ in range(2 * MOST_IDLE)))
        for _, writer in held:
            writer.write(b"GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answers = [await reader.read() for reader, _ in held]
        assert [answer.split(b"\r\n")[0] for answer in answers] == [b"HTTP/1.1 200 OK"] * len(held)
        for _, writer in held:
            writer.close()


async def test_health_answers_while_every_websocket_is_taken() -> None:
    limits = LimitSettings(max_sessions=1, hello_timeout_s=20)
    async with http_door(ScriptedRecognizer(), limits=limits) as base, contextlib.AsyncExitStack() as stack:
        for _ in range(MOST_IDLE + 1):
            await stack.enter_async_context(native_client(base))
        assert await health(base) == 200


async def test_a_second_request_that_stays_half_is_closed_too() -> None:
    async with http_door(ScriptedRecognizer(), limits=replace(LIMITS, hello_timeout_s=0.3)) as base:
        reader, writer = await connect(base)
        writer.write(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b'"alive"}')
        writer.write(HALF_A_HEAD)
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()


async def test_one_address_cannot_take_every_connection() -> None:
    host = own_address()
    if host is None:
        pytest.skip("this machine has no address beyond loopback")
    limits = replace(LIMITS, max_connections_per_address=3)
    async with http_door(ScriptedRecognizer(), limits=limits, host="0.0.0.0", insecure=("http",)) as base:
        held = [await connect(base, host) for _ in range(3)]
        reader, writer = await connect(base, host)
        assert b"limits.max_connections_per_address" in await reader.read()
        assert await health(base.replace("0.0.0.0", "127.0.0.1")) == 200
        for _, opened in [*held, (reader, writer)]:
            opened.close()
