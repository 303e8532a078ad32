"""What a live session costs the daemon in processor time: its front and its worker, apart.

::

    tools/live_cost [--sound digital|room|speech]... [--piece-ms 20|100]... [--streams 1] [--seconds 20]

A real daemon with its defaults serves a model to clients of the native websocket that send at the pace of speech:
``digital`` silence, a quiet ``room`` (noise at -60 dBFS), or ``speech`` without pauses. Processor time is the kernel's
account of the two processes, so that it holds on a machine that does other things too, though busy caches add to it; it
is read once the first seconds are over. The clients run in this process and are not counted.

Target: one session of silence costs at most 1 % of a core. Leaves with 1 when it is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np
from websockets.asyncio.client import ClientConnection, connect

from edge_asr.resources.cpu_time import read_process_tree
from tools.chaos_clients import RATE_HZ
from tools.chaos_daemon import Daemon
from tools.overload import speech
from tools.served import served

MOST_IDLE_SHARE = 0.01
WARM_UP_S = 6.0
"""Before anything is read: the session is young, the gate not closed yet."""
LOOP_S = 10.0
"""Of audio, said again and again."""
ROOM_DBFS = -60.0


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds per second of audio and session."""

    sound: str
    piece_ms: int
    streams: int
    front: float
    worker: float

    @property
    def total(self) -> float:
        """Of both processes."""
        return self.front + self.worker

    @property
    def is_met(self) -> bool:
        """Whether it is no more than it may; speech may cost what it costs."""
        return self.sound == "speech" or self.streams > 1 or self.total <= MOST_IDLE_SHARE


def sounds() -> Mapping[str, bytes]:
    """By name, in 16-bit samples."""
    samples = round(LOOP_S * RATE_HZ)
    noise = np.random.default_rng(0).standard_normal(samples) * 32768 * 10 ** (ROOM_DBFS / 20)
    return {
        "digital": bytes(2 * samples),
        "room": noise.round().astype("<i2").tobytes(),
        "speech": speech(LOOP_S),
    }


async def talk(url: str, sound: bytes, piece_ms: int, number: int) -> None:
    """Send for ever; every client begins elsewhere."""
    async with connect(url, compression=None, ping_timeout=None) as socket:
        await socket.send(json.dumps({"type": "hello", "sample_rate_hz": RATE_HZ, "is_live": True}))
        async with asyncio.TaskGroup() as group:
            group.create_task(_listen(socket))
            step = 2 * RATE_HZ * piece_ms // 1000
            first, due_s = number * 7 * step % len(sound), time.monotonic()
            while True:
                await socket.send(sound[first : first + step])
                first = (first + step) % len(sound)
                due_s += piece_ms / 1000
                await asyncio.sleep(max(0.0, due_s - time.monotonic()))


async def _listen(socket: ClientConnection) -> None:
    async for _ in socket:
        pass


async def measure(daemon: Daemon, sound: tuple[str, bytes], piece_ms: int, streams: int, seconds: float) -> Cost:
    """One kind of session for a while."""
    worker = daemon.wait_for_worker()
    talking = [asyncio.create_task(talk(daemon.websocket, sound[1], piece_ms, each)) for each in range(streams)]
    await asyncio.wait(talking, timeout=WARM_UP_S, return_when=asyncio.FIRST_EXCEPTION)
    began_s, before = time.monotonic(), (_alone_s(daemon.pid, worker), _cpu_s(worker))
    await asyncio.wait(talking, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    ended_s, after = time.monotonic(), (_alone_s(daemon.pid, worker), _cpu_s(worker))
    for client in talking:
        client.cancel()
    ends = await asyncio.gather(*talking, return_exceptions=True)
    if lost := [end for end in ends if not isinstance(end, asyncio.CancelledError)]:
        raise SystemExit(f"a session ended: {lost[0]!r}")
    front, in_worker = ((now - then) / (ended_s - began_s) / streams for now, then in zip(after, before, strict=True))
    return Cost(sound[0], piece_ms, streams, front, in_worker)


def _cpu_s(pid: int) -> float:
    tree = read_process_tree(pid)
    if tree is None:
        raise SystemExit(f"process {pid} has ended")
    return tree.cpu_s


def _alone_s(front: int, worker: int) -> float:
    return _cpu_s(front) - _cpu_s(worker)


async def measure_all(args: argparse.Namespace) -> list[Cost]:
    """One daemon for all of it, as it serves them one after the other in a life."""
    known = sounds()
    async with served(args.model) as daemon:
        costs = []
        for name, piece_ms in product(args.sound or ["digital", "room"], args.piece_ms or [20, 100]):
            cost = await measure(daemon, (name, known[name]), piece_ms, args.streams, args.seconds)
            print(_sentence(cost), flush=True)
            costs.append(cost)
        return costs


def _sentence(cost: Cost) -> str:
    return (
        f"{cost.sound} in pieces of {cost.piece_ms} ms, {cost.streams} sessions: {100 * cost.total:.2f} % of a core "
        f"each (front {100 * cost.front:.2f}, worker {100 * cost.worker:.2f})"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sound", action="append", choices=("digital", "room", "speech"), help="may be repeated")
    parser.add_argument("--piece-ms", action="append", type=int, metavar="MS", help="may be repeated (20 and 100)")
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--model", default="starter-en", help="name, or directory with a manifest")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args(arguments)
    costs = asyncio.run(measure_all(args))
    if args.json:
        args.json.write_text(json.dumps([asdict(cost) for cost in costs], indent=1) + "\n", encoding="utf-8")
    raise SystemExit(0 if all(cost.is_met for cost in costs) else 1)


if __name__ == "__main__":
    main()
