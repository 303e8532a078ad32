"""What is done to the daemon. A fault that ends the worker gives the moment at which it did."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from websockets.exceptions import WebSocketException

from tools.chaos_clients import RATE_HZ, opened
from tools.chaos_daemon import Daemon
from tools.chaos_surroundings import Disk, MemoryGroup, WallClock

HELD_S = 2.0
"""How long a disk stays full, or a flood stays."""
DAMAGED_S = 1.0
STARVED_S = 20.0
FLOOD = 300
DAY_S = 86_400


@dataclass(slots=True)
class Scene:
    """The daemon and what surrounds it."""

    daemon: Daemon
    disk: Disk
    clock: WallClock
    memory: MemoryGroup
    held: list[socket.socket] = field(default_factory=list)
    """Half-open connections, until the end."""
    unclear_answers: list[str] = field(default_factory=list)
    """What uploads were answered, where it was no error in good order."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind."""

    happen: Callable[[Scene], Awaitable[float | None]]
    is_possible: Callable[[Scene], bool] = lambda _: True


async def kill(scene: Scene) -> float:
    return await _hurt_worker(scene, lambda pid: os.kill(pid, signal.SIGKILL))


async def stop(scene: Scene) -> float:
    return await _hurt_worker(scene, lambda pid: os.kill(pid, signal.SIGSTOP))


async def run_out_of_memory(scene: Scene) -> float:
    """The next page that the worker wants is its last; new sessions make it want some."""
    pid = await asyncio.to_thread(scene.daemon.wait_for_worker)
    scene.memory.starve(pid)
    until = time.monotonic() + STARVED_S
    while scene.daemon.is_alive(pid):
        if time.monotonic() > until:
            raise TimeoutError("the kernel did not end the worker")
        with contextlib.suppress(OSError, WebSocketException):
            async with asyncio.timeout(0.2), opened(scene.daemon) as client:
                await client.send(bytes(RATE_HZ))
                await client.recv()
    return time.monotonic()


async def damage_model(scene: Scene) -> float:
    """The worker ends while its model is half there on the disk; it is whole again a little later."""
    file = max(scene.daemon.model.glob("*.onnx"), key=lambda path: path.stat().st_size)
    whole = file.read_bytes()

    def damage_and_kill(pid: int) -> None:
        file.write_bytes(whole[: len(whole) // 2])
        os.kill(pid, signal.SIGKILL)

    try:
        hurt = await _hurt_worker(scene, damage_and_kill)
        await asyncio.sleep(DAMAGED_S)
    finally:
        file.write_bytes(whole)
    return hurt


async def fill_disk(scene: Scene) -> None:
    waste = await asyncio.to_thread(scene.disk.fill)
    try:
        await _upload(scene)
        await asyncio.sleep(HELD_S)
    finally:
        waste.unlink()


async def forbid_writing(scene: Scene) -> None:
    scene.disk.make_read_only(True)
    try:
        await _upload(scene)
        await asyncio.sleep(HELD_S)
    finally:
        scene.disk.make_read_only(False)


async def move_clock(scene: Scene) -> None:
    for days in (14, -14, 0):
        scene.clock.jump(days * DAY_S)
        await asyncio.sleep(HELD_S / 3)


async def hang_up(scene: Scene) -> None:
    """A client that vanishes in the middle of a word."""
    async with opened(scene.daemon) as client:
        await client.send(bytes(16_000))
        client.transport.abort()


async def leave_half_open(scene: Scene) -> None:
    """Connections whose other end is gone without a word: nothing, half a handshake, half a Wyoming event."""
    for said in (b"", b"GET /v1/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"):
        scene.held.append(_connected(_port(scene), said))
    scene.held.append(_connected(scene.daemon.wyoming_port, b'{"type":"audio-chunk","payload_length":4096}\n'))


async def flood(scene: Scene) -> None:
    """Hundreds of connections at both doors, and sessions until there are none left."""
    ports = (_port(scene), scene.daemon.wyoming_port)
    many = [_connected(ports[number % 2], b"") for number in range(FLOOD)]
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(FLOOD // 10):
            with contextlib.suppress(OSError, WebSocketException, TimeoutError):
                await stack.enter_async_context(opened(scene.daemon))
        await asyncio.sleep(HELD_S)
    for connection in many:
        connection.close()


async def talk_nonsense(scene: Scene) -> None:
    """Noise as audio, and text that is no message."""
    async with opened(scene.daemon) as client:
        await client.send(os.urandom(100_001))
        await client.send('{"type":"no such thing"}')
        async for _ in client:
            pass


async def send_nan(scene: Scene) -> None:
    """Samples that are no numbers."""
    async with opened(scene.daemon, encoding="f32le") as client:
        await client.send(np.full(RATE_HZ, np.nan, np.float32).tobytes())
        await client.send('{"type":"finish"}')
        async for _ in client:
            pass


FAULTS: Mapping[str, Fault] = {
    "kill -9": Fault(kill),
    "SIGSTOP": Fault(stop),
    "out of memory": Fault(run_out_of_memory, lambda scene: scene.memory.is_usable),
    "damaged model": Fault(damage_model),
    "full disk": Fault(fill_disk, lambda scene: scene.disk.is_own),
    "read-only disk": Fault(forbid_writing, lambda scene: scene.disk.is_own),
    "wall clock": Fault(move_clock, lambda scene: scene.clock.can_jump),
    "hang up": Fault(hang_up),
    "half-open": Fault(leave_half_open),
    "flood": Fault(flood),
    "nonsense": Fault(talk_nonsense),
    "NaN": Fault(send_nan),
}
"""Every kind, by the name in the report."""


async def _hurt_worker(scene: Scene, hurt: Callable[[int], None]) -> float:
    """Wait for a worker that serves and do it to that one; when it was done."""
    pid = await asyncio.to_thread(scene.daemon.wait_for_worker)
    with contextlib.suppress(ProcessLookupError):
        hurt(pid)
    return time.monotonic()


async def _upload(scene: Scene) -> None:
    try:
        answer = await asyncio.to_thread(_post_silence, scene.daemon.http)
    except (OSError, ValueError) as error:
        answer = repr(error)
    if answer:
        scene.unclear_answers.append(answer)


def _post_silence(base: str) -> str:
    """Upload a second of silence; empty when it was refused as an error is, else what came instead."""
    boundary = uuid.uuid4().hex
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.pcm"\r\n\r\n'.encode()
    body = head + bytes(4 << 20) + f"\r\n--{boundary}--\r\n".encode()
    request = urllib.request.Request(f"{base}/v1/audio/transcriptions", body)
    request.add_header("Content-Type", f"multipart/form-data; boundary={boundary}")
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return f"status {response.status}"
    except urllib.error.HTTPError as error:
        document: dict[str, Any] = json.load(error)
        return "" if document["error"]["message"] else f"status {error.code} without a reason"


def _connected(port: int, said: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(said)
    return connection


def _port(scene: Scene) -> int:
    return int(scene.daemon.http.rpartition(":")[2])
