"""Break the daemon on purpose and count what its clients lost: ``tools/chaos.py [--swap] [--seconds 60]``.

A real daemon with the bundled model serves live clients over the native websocket. Every client plays the bundled
commands with pauses, at the pace of speech, and compares the finals it gets with those of an undisturbed session.
Meanwhile the worker is killed or stopped (SIGKILL, SIGSTOP), other connections break off half-way, say nonsense, or
send NaN. What happens when comes from a seed.

With ``--swap`` its model is changed instead, again and again, and models that are damaged are offered to it. With
``--recycle`` its worker is replaced by a fresh one every few seconds, and nobody may hear of it.

Counts sessions lost (no ``ended``), finals lost, finals doubled, and finals whose words differ; and for each fault of
the worker the time until the last of its sessions was told that it goes on. Leaves with 1 when anything was lost.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import difflib
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from model_swaps import GOOD, SwapRecord, activate, fill_store
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from edge_asr.workload import OPEN_VOCABULARY, bundled_clips, load_clip

RATE_HZ = 16_000
PIECE_S = 0.1
PAUSE_S = 1.6
"""Longer than the endpoint rule waits, so that every recording becomes a final of its own."""
PATIENCE_S = 60.0
"""For the end of a session after its last audio."""
GOES_ON = "engine_restarted"


@dataclass(slots=True)
class Losses:
    """What clients lost in all."""

    sessions: int = 0
    sessions_lost: int = 0
    finals: int = 0
    finals_lost: int = 0
    finals_doubled: int = 0
    finals_changed: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    recoveries_s: list[float] = field(default_factory=list)
    memory_before_bytes: int = 0
    memory_after_bytes: int = 0
    swaps: SwapRecord = field(default_factory=SwapRecord)
    recycled: int = 0
    """Workers that were replaced by fresh ones."""

    @property
    def is_clean(self) -> bool:
        """Whether nobody lost anything."""
        return not (self.sessions_lost or self.finals_lost or self.finals_doubled or self.swaps.faults)

    def document(self) -> dict[str, Any]:
        """For ``--json``."""
        ordered = sorted(self.recoveries_s)
        p95 = ordered[max(0, -(-95 * len(ordered) // 100) - 1)] if ordered else None
        return {**asdict(self), "recovery_p95_s": p95, "recoveries_s": [round(value, 2) for value in ordered]}


class Daemon:
    """``edge-asr serve`` on a free port.

    Args:
        model: What it serves.
        environment: Further variables.
    """

    def __init__(self, model: str = "starter-en", **environment: str) -> None:
        command = [sys.executable, "-m", "edge_asr", "serve", "-m", model, "--port", "0", "--wyoming", "off"]
        quick = {"EDGE_ASR_WORKER_HANG_TIMEOUT_S": "3", "EDGE_ASR_WORKER_RESTART_DELAY_S": "0.1"}
        quick |= {"EDGE_ASR_WORKER_MAX_RESTART_DELAY_S": "1", "EDGE_ASR_WORKER_REPLAY_PATIENCE_S": "120"}
        self._process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=os.environ | quick | environment
        )
        self.pid = self._process.pid
        self.log: list[str] = []
        self.url = self._wait_for_url()
        while not self._is_ready():
            time.sleep(0.1)

    def status(self) -> dict[str, Any]:
        """Its own words."""
        with urllib.request.urlopen(f"{self.url}/status", timeout=10) as answer:
            document: dict[str, Any] = json.load(answer)
            return document

    def wait_for_worker(self) -> int:
        """Process id of a worker that serves, once there is one."""
        while (status := self.status())["state"] != "ready":
            time.sleep(PIECE_S)
        return int(status["worker_pid"])

    def drain_log(self) -> None:
        """Read on, or the pipe fills."""
        stream = self._process.stderr
        while stream is not None and (line := stream.readline()):
            self.log.append(line)

    def stop(self) -> int:
        """End it; its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(30)

    def memory_bytes(self) -> int:
        """Resident memory of front and worker."""
        pids = (self._process.pid, int(self.status()["worker_pid"]))
        statuses = [Path(f"/proc/{pid}/status").read_text(encoding="ascii") for pid in pids]
        return sum(1024 * int(found[1]) for text in statuses if (found := re.search(r"VmRSS:\s+(\d+)", text)))

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health/ready", timeout=10) as answer:
                return bool(answer.status == 200)
        except urllib.error.HTTPError:
            if self._process.poll() is not None:
                raise SystemExit(f"the daemon ended:\n{''.join(self.log)}") from None
            return False

    def _wait_for_url(self) -> str:
        stream = self._process.stderr
        while stream is not None and (line := stream.readline()):
            self.log.append(line)
            if found := re.search(r"http://[\d.]+:\d+", line):
                return found[0]
        raise SystemExit(f"the daemon did not start:\n{''.join(self.log)}")


def conversation(seconds: float) -> bytes:
    """The bundled commands with pauses, as long as that, in 16-bit samples."""
    clips = [load_clip(clip) for clip in bundled_clips() if clip.vocabulary != OPEN_VOCABULARY]
    pause = np.zeros(round(PAUSE_S * RATE_HZ), np.int16)
    pieces: list[Any] = []
    while sum(map(len, pieces)) < seconds * RATE_HZ:
        for clip in clips:
            pieces += [clip.samples, pause]
    return np.concatenate(pieces).astype("<i2").tobytes()


class Client:
    """One live session, and what it heard."""

    def __init__(self, daemon: Daemon, sound: bytes) -> None:
        self.finals: list[str] = []
        self.segments: list[int] = []
        self.goes_on_at: list[float] = []
        self.has_ended = False
        self.broken_by = ""
        self._daemon = daemon
        self._sound = sound

    async def talk(self, *, is_paced: bool = True) -> None:
        """The whole conversation."""
        try:
            async with opened(self._daemon) as socket:
                hearing = asyncio.create_task(self._hear(socket))
                await self._say(socket, is_paced=is_paced)
                await asyncio.wait_for(hearing, PATIENCE_S)
        except (OSError, WebSocketException, TimeoutError) as error:
            self.broken_by = repr(error)

    async def _say(self, socket: ClientConnection, *, is_paced: bool) -> None:
        step = 2 * round(PIECE_S * RATE_HZ)
        started = time.monotonic()
        for first in range(0, len(self._sound), step):
            await socket.send(self._sound[first : first + step])
            if is_paced:
                await asyncio.sleep(max(0.0, started + (first + step) / 2 / RATE_HZ - time.monotonic()))
        await socket.send('{"type":"finish"}')

    async def _hear(self, socket: ClientConnection) -> None:
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "final":
                self.finals.append(message["text"])
                self.segments.append(message["segment"])
            elif message["type"] == "notice" and message["code"] == GOES_ON:
                self.goes_on_at.append(time.monotonic())
            elif message["type"] == "failed":
                self.broken_by = message["message"]
            elif message["type"] == "ended":
                self.has_ended = True


@contextlib.asynccontextmanager
async def opened(daemon: Daemon) -> AsyncIterator[ClientConnection]:
    """A session of the native protocol, after its hello."""
    async with connect(f"{daemon.url.replace('http', 'ws')}/v1/stream", compression=None, ping_timeout=None) as socket:
        await socket.send(json.dumps({"type": "hello", "sample_rate_hz": RATE_HZ}))
        await socket.recv()
        yield socket


async def hurt_worker(daemon: Daemon, number: signal.Signals) -> float:
    """Wait for a worker that serves and send it a signal; when."""
    pid = await asyncio.to_thread(daemon.wait_for_worker)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
    return time.monotonic()


async def break_off(daemon: Daemon) -> None:
    """A client that vanishes in the middle of a word."""
    with contextlib.suppress(OSError, WebSocketException):
        async with opened(daemon) as socket:
            await socket.send(bytes(16_000))
            socket.transport.abort()


async def say_nonsense(daemon: Daemon) -> None:
    """Text that is no message, and audio that is noise."""
    with contextlib.suppress(OSError, WebSocketException):
        async with opened(daemon) as socket:
            await socket.send(os.urandom(100_001))
            await socket.send('{"type":"no such thing"}')
            async for _ in socket:
                pass


async def send_nan(daemon: Daemon) -> None:
    """Samples that are no numbers."""
    url = f"{daemon.url.replace('http', 'ws')}/v1/stream"
    with contextlib.suppress(OSError, WebSocketException):
        async with connect(url, compression=None, ping_timeout=None) as socket:
            await socket.send(json.dumps({"type": "hello", "sample_rate_hz": RATE_HZ, "encoding": "f32le"}))
            await socket.send(np.full(RATE_HZ, np.nan, np.float32).tobytes())
            await socket.send('{"type":"finish"}')
            async for _ in socket:
                pass


async def make_trouble(
    daemon: Daemon, seconds: float, every_s: float, draw: random.Random, losses: Losses
) -> list[float]:
    """Faults until the time is up; when the worker was hurt."""
    hurts: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        await asyncio.sleep(draw.uniform(0.5, 1.5) * every_s)
        fault = draw.choice(["kill", "kill", "stop", "break off", "nonsense", "NaN"])
        losses.faults[fault] = losses.faults.get(fault, 0) + 1
        if fault in ("kill", "stop"):
            hurts.append(await hurt_worker(daemon, signal.SIGKILL if fault == "kill" else signal.SIGSTOP))
        else:
            await {"break off": break_off, "nonsense": say_nonsense, "NaN": send_nan}[fault](daemon)
    return hurts


async def let_recycle(daemon: Daemon, seconds: float) -> int:
    """Wait; how many workers were replaced meanwhile."""
    pids: set[int] = set()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pids.add((await asyncio.to_thread(daemon.status))["worker_pid"])
        await asyncio.sleep(1.0)
    return len(pids) - 1


async def swap_models(daemon: Daemon, seconds: float, admin_socket: Path, damaged: Sequence[str]) -> SwapRecord:
    """One model after the other until the time is up: a good one, then a damaged one."""
    record = SwapRecord()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        good = GOOD[record.swaps % 2]
        status, code = await asyncio.to_thread(activate, admin_socket, good)
        record.swaps += 1
        if status != http.client.OK:
            record.faults.append(f"{good} was refused: {code}")
        before = await asyncio.to_thread(daemon.status)
        bad = damaged[record.swaps % len(damaged)]
        status, code = await asyncio.to_thread(activate, admin_socket, bad)
        after = await asyncio.to_thread(daemon.status)
        record.refused[bad] = code
        if status == http.client.OK or before["worker_pid"] != after["worker_pid"] or after["state"] != "ready":
            record.faults.append(f"{bad} changed something: {status} {code}")
    return record


def compare(expected: Sequence[str], client: Client, losses: Losses) -> None:
    """Add what one client lost."""
    losses.sessions += 1
    losses.finals += len(expected)
    losses.sessions_lost += not client.has_ended
    if client.broken_by:
        print(f"a session broke off: {client.broken_by}", file=sys.stderr)
    losses.finals_doubled += len(client.segments) - len(set(client.segments))
    matcher = difflib.SequenceMatcher(a=expected, b=client.finals, autojunk=False)
    for kind, first, last, begin, end in matcher.get_opcodes():
        wanted, got = last - first, end - begin
        if kind != "equal":
            losses.finals_changed += min(wanted, got)
            losses.finals_lost += max(0, wanted - got)
            losses.finals_doubled += max(0, got - wanted)


def recoveries(hurts: Sequence[float], clients: Sequence[Client]) -> list[float]:
    """For each time the worker was hurt, until the last client was told that it goes on."""
    found = []
    for number, hurt in enumerate(hurts):
        following = hurts[number + 1] if number + 1 < len(hurts) else float("inf")
        told = [at - hurt for client in clients for at in client.goes_on_at if hurt <= at < following]
        found += [max(told)] if told else []
    return found


async def run(daemon: Daemon, args: argparse.Namespace) -> Losses:
    """An undisturbed session, then the disturbed ones."""
    sound = conversation(args.seconds)
    calm = Client(daemon, sound)
    await calm.talk(is_paced=False)
    losses = Losses(memory_before_bytes=daemon.memory_bytes())
    clients = [Client(daemon, sound) for _ in range(args.streams)]
    talking = asyncio.gather(*(client.talk() for client in clients))
    hurts: list[float] = []
    if args.swap:
        losses.swaps = await swap_models(daemon, args.seconds, args.admin_socket, args.damaged)
    elif args.recycle:
        losses.recycled = await let_recycle(daemon, args.seconds)
        losses.swaps.faults += ["a client heard of it" for client in clients if client.goes_on_at]
    else:
        draw = random.Random(args.seed)  # noqa: S311
        hurts = await make_trouble(daemon, args.seconds, args.every, draw, losses)
    await talking
    for client in clients:
        compare(calm.finals, client, losses)
    losses.recoveries_s = recoveries(hurts, clients)
    last = Client(daemon, conversation(1.0))
    await last.talk(is_paced=False)
    losses.sessions_lost += not last.has_ended
    losses.memory_after_bytes = daemon.memory_bytes()
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the clients talk")
    parser.add_argument("--streams", type=int, default=8)
    parser.add_argument("--every", type=float, default=4.0, help="seconds between two faults, on average")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--swap", action="store_true", help="change the model instead of hurting the worker")
    parser.add_argument("--recycle", action="store_true", help="replace the worker by fresh ones instead")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="edge-asr-chaos-") as home:
        break_daemon(args, Path(home))


def break_daemon(args: argparse.Namespace, home: Path) -> None:
    """Start a daemon, break it, print what was lost, and leave."""
    if args.swap:
        args.admin_socket, args.damaged = home / "admin.sock", fill_store(home)
        # Sessions move soon, or they would end before they do.
        swapping = {"EDGE_ASR_SERVER_ADMIN_SOCKET": str(args.admin_socket), "EDGE_ASR_WORKER_SWAP_DRAIN_S": "1"}
        daemon = Daemon(GOOD[1], EDGE_ASR_HOME=str(home), **swapping)
    else:
        recycling = {"EDGE_ASR_WORKER_RECYCLE_AFTER_S": "1"} if args.recycle else {}
        daemon = Daemon(EDGE_ASR_SERVER_ADMIN_SOCKET="off", **recycling)

    async def everything() -> Losses:
        log = asyncio.create_task(asyncio.to_thread(daemon.drain_log))
        losses = await run(daemon, args)
        status = await asyncio.to_thread(daemon.stop)
        await log
        if status:
            raise SystemExit(f"the daemon left with {status}:\n{''.join(daemon.log[-20:])}")
        return losses

    losses = asyncio.run(everything())
    document = losses.document()
    if args.json:
        args.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    if not losses.is_clean:
        sys.stderr.writelines(daemon.log[-40:])
    for name, value in document.items():
        print(f"{name}: {value}")
    raise SystemExit(0 if losses.is_clean else 1)


if __name__ == "__main__":
    main()
