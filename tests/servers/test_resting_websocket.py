"""Websockets of sessions that rest: read later, and never less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from edge_asr.servers.resting_websocket import REST_S, SMALL_BYTES, UNTAKEN, RestingWebSocket, rest_of
from tests.support.doors import http_door, native_client, read_messages
from tests.support.recognizer import ScriptedRecognizer

MESSAGE = {"type": "websocket.receive", "bytes": b"\x00"}


class Later:
    """An event loop's timers, which fire when they are told to."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> Later:
        self.waiting.append((delay_s, callback))
        return self

    def cancel(self) -> None:
        self.waiting.clear()


class Wire:
    """A transport that notes what it is told."""

    def __init__(self) -> None:
        self.is_read = False

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True


async def app(_scope: Any, _receive: Any, _send: Any) -> None:
    """Never runs."""


@pytest.fixture
async def socket() -> RestingWebSocket:
    """A connection whose reading is paused behind one message."""
    config = Config(app, ws=RestingWebSocket, lifespan="off", log_config=None)
    config.load()
    socket = RestingWebSocket(config, ServerState(), {})
    socket.transport, socket.loop = Wire(), Later()  # type: ignore[assignment]
    socket.read_paused = True
    socket.queue.put_nowait(MESSAGE)  # type: ignore[arg-type]
    return socket


async def test_a_socket_is_read_on_at_once(socket: RestingWebSocket) -> None:
    assert await socket.receive() == MESSAGE
    assert socket.transport.is_read  # type: ignore[attr-defined]


async def test_at_rest_it_is_read_on_in_a_moment(socket: RestingWebSocket) -> None:
    socket._rest(True)
    assert await socket.receive() == MESSAGE
    assert not socket.transport.is_read  # type: ignore[attr-defined]
    ((delay_s, read_on),) = socket.loop.waiting  # type: ignore[attr-defined]
    read_on()
    assert (delay_s, socket.transport.is_read) == (REST_S, True)  # type: ignore[attr-defined]


async def test_when_the_rest_is_over_it_is_read_on_at_once(socket: RestingWebSocket) -> None:
    socket._rest(True)
    await socket.receive()
    socket._rest(False)
    assert socket.transport.is_read  # type: ignore[attr-defined]
    assert socket.loop.waiting == []  # type: ignore[attr-defined]


@pytest.fixture
def open_socket(socket: RestingWebSocket) -> RestingWebSocket:
    """A connection that is read, and of which nothing waits to be taken."""
    socket.queue.get_nowait()
    socket._read_on()
    return socket


def comes(socket: RestingWebSocket, data: bytes) -> bool:
    """Let a message come; whether the socket is read after it."""
    socket.frames = [data]
    socket.send_receive_event_to_app()
    assert socket.read_paused is not socket.transport.is_read  # type: ignore[attr-defined]
    return bool(socket.transport.is_read)  # type: ignore[attr-defined]


async def test_small_messages_do_not_stop_the_reading_until_many_wait(open_socket: RestingWebSocket) -> None:
    assert [comes(open_socket, bytes(3200)) for _ in range(6)] == [True] * UNTAKEN + [False] * 2
    for _ in range(6):
        assert (await open_socket.receive())["type"] == "websocket.receive"
    assert open_socket.transport.is_read  # type: ignore[attr-defined]


async def test_a_large_message_stops_the_reading_until_it_is_taken(open_socket: RestingWebSocket) -> None:
    assert not comes(open_socket, bytes(SMALL_BYTES + 1))
    await open_socket.receive()
    assert open_socket.transport.is_read  # type: ignore[attr-defined]


async def test_at_rest_each_message_stops_the_reading(open_socket: RestingWebSocket) -> None:
    open_socket._rest(True)
    assert not comes(open_socket, bytes(640))


async def test_all_audio_comes_when_a_session_rests() -> None:
    recognizer = ScriptedRecognizer()
    recognizer.is_resting = True
    async with http_door(recognizer) as base, native_client(base) as client:
        await client.send('{"type":"hello"}')
        for number in range(20):
            await client.send(bytes([number, number]))
        await client.send('{"type":"finish"}')
        messages = await read_messages(client)
    assert messages[-1]["type"] == "ended"
    assert bytes(recognizer.sessions[0].audio) == bytes(each // 2 for each in range(40))


def test_another_server_is_told_nothing() -> None:
    rest_of({"extensions": {}})(True)
    rest_of({})(False)
