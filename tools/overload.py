"""Offer the daemon twice what it can carry, and see what becomes of it.

::

    tools/overload [--seconds 120] [--model MODEL] [--json FILE]

A real daemon serves a model; a few streams talk until it knows its capacity. Then two processes open live sessions over
the native websocket, together ``--factor`` times the capacity, all of unbroken speech. Who is refused waits as long as
it was told to and comes again; who is accepted talks for a while, ends, and comes again. They do so for some seconds
first, after which memory is read, and then for as long as was asked.

Leaves with 1 unless all of this holds: every refusal names its reason and a time to come back; no accepted session is
lost; ``/health``, ``/metrics`` and Wyoming's ``describe``, asked five times a second, answer within 100 ms (99th
percentile); at most one step in a hundred of the accepted sessions ends after it was due, one chunk after its audio
was there (so the 99th percentile is below one chunk); and memory, open files and undecoded audio are what they were
after the first seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from edge_asr.statistics import percentile
from edge_asr.workload import bundled_clips, load_clip
from tools.chaos_clients import RATE_HZ
from tools.chaos_daemon import Daemon
from tools.overload_probe import Probe
from tools.served import served

Found = TypeVar("Found")

PIECE_S = 0.1
TALK_S = 5.0, 25.0
"""Of one accepted session, drawn; they end at different times, so that there is room now and then."""
LEARN_S = 12.0
LEARN_STREAMS = 4
FIRST_S = 10.0
"""Of all clients, before memory is read: what is made once, at the first full load, stays."""
SETTLE_S = 3.0
MOST_LATE_SHARE = 0.01
MOST_ANSWER_MS = 100.0
MOST_GROWTH_BYTES = 20_000_000
MOST_MORE_FILES = 4
"""Whatever is opened at the first use and stays; every lost connection would be one more."""
PATIENCE_S = 60.0
ANSWER = re.compile(r"try again in \d+ s")


@dataclass(slots=True)
class Heard:
    """What the clients of one process were told."""

    accepted: int = 0
    finished: int = 0
    lost: list[str] = field(default_factory=list)
    """Why an accepted session did not end well."""
    refused: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    """Sentences of refusals, figures left out."""
    unclear: list[str] = field(default_factory=list)
    """Refusals without a reason, a hint or the close code that says so."""
    hints_s: list[float] = field(default_factory=list)
    finals_s: list[float] = field(default_factory=list)
    """From the end of a session's audio to its end."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Of live streams, since the daemon was started."""

    live: float
    late: float

    @classmethod
    def read(cls, daemon: Daemon) -> Steps:
        """By its metrics, which go on when a worker is replaced."""
        return cls(daemon.counted("edge_asr_live_steps"), daemon.counted("edge_asr_late_steps"))

    def __sub__(self, before: Steps) -> Steps:
        return Steps(self.live - before.live, self.late - before.late)


def speech(seconds: float) -> bytes:
    """The bundled recordings without pauses, in 16-bit samples."""
    clips = [load_clip(clip).samples for clip in bundled_clips()]
    whole = np.concatenate(clips)
    repeats = -(-round(seconds * RATE_HZ) // len(whole))
    return np.tile(whole, repeats)[: round(seconds * RATE_HZ)].astype("<i2").tobytes()


class Talker:
    """One client that wants to talk all the time."""

    def __init__(self, url: str, sound: bytes, number: int, until: float, heard: Heard) -> None:
        self._url = url
        step = 2 * round(PIECE_S * RATE_HZ)
        start = number * 7 * step % (len(sound) // 2)  # everybody says something else
        self._pieces = [sound[first : first + step] for first in range(start, len(sound), step)]
        self._draw = random.Random(number)  # noqa: S311  not a secret
        self._until = until
        self._heard = heard

    async def run(self) -> None:
        """Come again and again until the time is up."""
        while time.monotonic() < self._until:
            pause_s = await self._session()
            await asyncio.sleep(pause_s)

    async def _session(self) -> float:
        """One attempt; how long to wait before the next one."""
        try:
            async with connect(self._url, compression=None, ping_timeout=None) as socket:
                await socket.send(json.dumps({"type": "hello", "sample_rate_hz": RATE_HZ, "is_live": True}))
                first = json.loads(await socket.recv())
                if first["type"] != "ready":
                    return await self._refused(first, socket)
                self._heard.accepted += 1
                await self._talk(socket)
        except (OSError, WebSocketException, TimeoutError) as error:
            self._heard.lost.append(repr(error))
        return 0.1

    async def _talk(self, socket: Any) -> None:  # noqa: ANN401
        hearing = asyncio.create_task(self._hear(socket))
        started, talk_s = time.monotonic(), self._draw.uniform(*TALK_S)
        for number, piece in enumerate(self._pieces, 1):
            if time.monotonic() >= self._until or number * PIECE_S > talk_s:
                break
            await socket.send(piece)
            await asyncio.sleep(max(0.0, started + number * PIECE_S - time.monotonic()))
        await socket.send('{"type":"finish"}')
        asked = time.monotonic()
        end = await asyncio.wait_for(hearing, PATIENCE_S)
        if end.get("type") == "ended" and not end["dropped_samples"]:
            self._heard.finished += 1
            self._heard.finals_s.append(time.monotonic() - asked)
        else:
            self._heard.lost.append(json.dumps(end))

    async def _hear(self, socket: Any) -> dict[str, Any]:  # noqa: ANN401
        last: dict[str, Any] = {}
        async for text in socket:
            message = json.loads(text)
            if message["type"] in ("ended", "failed"):
                last = message
        return last

    async def _refused(self, message: dict[str, Any], socket: Any) -> float:  # noqa: ANN401
        heard = self._heard
        heard.refused += 1
        reason = re.sub(r"[\d.]+", "N", message.get("message", ""))
        heard.reasons[reason] = heard.reasons.get(reason, 0) + 1
        hint_s = message.get("retry_after_s")
        try:
            await socket.recv()
            code = 0
        except ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd else 0
        is_clear = message.get("code") == "overloaded" and hint_s and ANSWER.search(message["message"])
        if not is_clear or code != 1013:
            heard.unclear.append(f"{code} {message}")
        heard.hints_s.append(hint_s or 0.0)
        return float(hint_s or 1.0)


async def talk(url: str, streams: int, seconds: float) -> Heard:
    """So many clients at once."""
    heard = Heard()
    sound = speech(2 * max(TALK_S))
    until = time.monotonic() + seconds
    await asyncio.gather(*(Talker(url, sound, number, until, heard).run() for number in range(streams)))
    return heard


def offer(url: str, streams: int, seconds: float, processes: int) -> list[Heard]:
    """The clients, in processes of their own."""
    shares = [streams // processes + (number < streams % processes) for number in range(processes)]
    command = [sys.executable, "-m", "tools.overload", "--client", url, "--seconds", str(seconds), "--streams"]
    running = [subprocess.Popen([*command, str(share)], stdout=subprocess.PIPE, text=True) for share in shares]
    outputs = [process.communicate()[0] for process in running]
    return [Heard(**json.loads(output)) for output in outputs]


def measure(daemon: Daemon, args: argparse.Namespace) -> dict[str, Any]:
    """Learn the capacity, overload, look again."""
    offer(daemon.websocket, LEARN_STREAMS, LEARN_S, 1)
    capacity = daemon.status()["workers"][0]["capacity_streams"] or LEARN_STREAMS
    steps_before = Steps.read(daemon)
    offered = round(args.factor * capacity)
    heard = offer(daemon.websocket, offered, FIRST_S, args.processes)
    settle()
    memory_before, files_before = sum(daemon.memory_bytes().values()), daemon.descriptors()
    with Probe(daemon) as probe:
        heard += offer(daemon.websocket, offered, args.seconds, args.processes)
    settle()
    status = daemon.status()
    steps = Steps.read(daemon) - steps_before
    finals_s = [each for one in heard for each in one.finals_s]
    p99 = percentile([1000 * each for each in finals_s], 99)
    return {
        "capacity_streams": capacity,
        "capacity_streams_after": status["workers"][0]["capacity_streams"],
        "offered_streams": offered,
        "seconds": args.seconds,
        "accepted": sum(one.accepted for one in heard),
        "finished": sum(one.finished for one in heard),
        "refused": sum(one.refused for one in heard),
        "reasons": sorted({reason for one in heard for reason in one.reasons}),
        "hint_median_s": sorted(hint for one in heard for hint in one.hints_s)[
            sum(len(one.hints_s) for one in heard) // 2
        ]
        if any(one.hints_s for one in heard)
        else None,
        "unclear": [each for one in heard for each in one.unclear][:5],
        "lost": [each for one in heard for each in one.lost][:5],
        "steps": steps.live,
        "late_share": steps.late / steps.live if steps.live else None,
        "final_p99_ms": getattr(p99, "value", None),
        "final_slowest_ms": 1000 * max(finals_s, default=0.0),
        "answers": probe.figures(),
        "backlog_s": status["stats"]["backlog_s"],
        "restarts": status["restarts"],
        "worker_bytes": status["workers"][0]["memory_bytes"],
        "memory_growth_bytes": sum(daemon.memory_bytes().values()) - memory_before,
        "open_files_growth": daemon.descriptors() - files_before,
    }


def settle() -> None:
    """The worker reports once a second, and gives memory back when it has had nothing to do for a moment."""
    time.sleep(SETTLE_S)


def complaints(found: dict[str, Any]) -> list[str]:
    """What does not hold."""
    holds = {
        "nobody was refused": found["refused"] > 0,
        "refusals are unclear": not found["unclear"],
        "accepted sessions were lost": not found["lost"] and found["accepted"] == found["finished"],
        "steps were late": found["late_share"] is not None and found["late_share"] <= MOST_LATE_SHARE,
        "nothing was asked": bool(found["answers"]),
        "questions were answered late": all(each["judged_ms"] <= MOST_ANSWER_MS for each in found["answers"].values()),
        "audio waits": found["backlog_s"] == 0,
        "memory grew": found["memory_growth_bytes"] <= MOST_GROWTH_BYTES,
        "open files grew": found["open_files_growth"] <= MOST_MORE_FILES,
        "a worker was replaced": found["restarts"] == 0,
    }
    return [name for name, is_met in holds.items() if not is_met]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--factor", type=float, default=2.0, help="streams offered, by the capacity")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--model", default="starter-en", help="name, or directory with a manifest")
    parser.add_argument(
        "--cap-mib", type=int, metavar="MIB", help="limit the worker's memory to so much above its steady state"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--client", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--streams", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.client:
        print(json.dumps(asdict(asyncio.run(talk(args.client, args.streams, args.seconds)))))
        return
    found = run(args)
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, value in found.items():
        print(f"{name}: {value}")
    wrong = complaints(found)
    for name in wrong:
        print(f"wrong: {name}", file=sys.stderr)
    raise SystemExit(1 if wrong else 0)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """A daemon, and the measurement; with ``--cap-mib`` under a limit that is measured first."""
    if args.cap_mib is None:
        return asyncio.run(with_daemon(args.model, {}, lambda daemon: measure(daemon, args)))
    steady_bytes = asyncio.run(with_daemon(args.model, {}, steady_worker_bytes))
    limit_mib = (steady_bytes >> 20) + args.cap_mib
    settings = {"EDGE_ASR_WORKER_MEMORY_LIMIT_MIB": str(limit_mib)}
    found = asyncio.run(with_daemon(args.model, settings, lambda daemon: measure(daemon, args)))
    return {"worker_steady_mib": steady_bytes >> 20, "worker_limit_mib": limit_mib, **found}


def steady_worker_bytes(daemon: Daemon) -> int:
    """What the worker takes once a few sessions have talked."""
    offer(daemon.websocket, LEARN_STREAMS, LEARN_S, 1)
    return int(daemon.status()["workers"][0]["memory_bytes"])


async def with_daemon(model: str, settings: dict[str, str], work: Callable[[Daemon], Found]) -> Found:
    """Do something with a daemon of its own."""
    async with served(model, EDGE_ASR_LIMITS_MAX_SESSIONS="1000", **settings) as daemon:
        return await asyncio.to_thread(work, daemon)


if __name__ == "__main__":
    main()
