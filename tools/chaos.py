"""Break the daemon on purpose and count what its clients lost: ``tools/chaos [--seconds 120] [--json FILE]``.

A real daemon serves live clients over the native websocket. Every client plays recordings with pauses, at the pace of
speech, and compares the finals it gets with those of an undisturbed session. Meanwhile, one after the other in an
order that comes from a seed: the worker is killed, stopped, or starved of memory; its model is damaged while it is
replaced; the disk with the daemon's model, state and spool is full, or read-only; the wall clock jumps by two weeks;
connections hang up, stay half-open, flood both doors, say nonsense, or send NaN. All this without a network, on a disk
of its own, where the kernel allows it.

With ``--swap`` its model is changed instead, again and again, and models that are damaged are offered to it. With
``--recycle`` its worker is replaced by a fresh one every few seconds, and nobody may hear of it.

Counts sessions lost (no ``ended``), finals lost, finals doubled, and finals whose words differ; for each fault of the
worker the time until the last of its sessions was told that it goes on; and how long the health check took, which is
asked all the time. Leaves with 1 when anything was lost, the daemon ended, or a health check failed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import sys
import tempfile
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException

from tools.chaos_changes import Changes, let_recycle, recycling_environment, swap_models, swapping_environment
from tools.chaos_clients import Client, Losses, conversation
from tools.chaos_daemon import Daemon
from tools.chaos_faults import FAULTS, Scene
from tools.chaos_surroundings import Disk, MemoryGroup, WallClock, move_inside

SHORT = ("kill -9", "SIGSTOP", "damaged model", "hang up", "half-open", "flood", "nonsense", "NaN")
"""Faults of ``--short``: those that every machine allows, each once."""
HEALTH_EVERY_S = 0.2
HEALTH_TIMEOUT_S = 5.0


@dataclass(slots=True)
class Report:
    """What came of it."""

    losses: Losses = field(default_factory=Losses)
    faults: dict[str, int] = field(default_factory=dict)
    changes: Changes = field(default_factory=Changes)
    not_possible_here: list[str] = field(default_factory=list)
    is_without_network: bool = False
    recoveries_s: dict[str, list[float]] = field(default_factory=dict)
    health_s: list[float] = field(default_factory=list)
    health_failures: int = 0
    unclear_answers: list[str] = field(default_factory=list)
    memory_before_bytes: dict[str, int] = field(default_factory=dict)
    memory_after_bytes: dict[str, int] = field(default_factory=dict)
    descriptors_before: int = 0
    descriptors_after: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether nobody lost anything and the daemon answered throughout."""
        return self.losses.is_clean and not (self.health_failures or self.unclear_answers or self.changes.faults)

    def document(self) -> dict[str, Any]:
        """For ``--json``."""
        every = [value for values in self.recoveries_s.values() for value in values]
        rest = asdict(self)
        del rest["losses"], rest["health_s"]
        return {
            **asdict(self.losses),
            "recovery_p95_s": nearest_rank(every, 0.95),
            "recovery_max_s": round(max(every), 2) if every else None,
            "health_max_s": round(max(self.health_s, default=0.0), 3),
            **rest,
        }


def nearest_rank(values: Sequence[float], share: float) -> float | None:
    """The percentile; ``None`` of nothing."""
    ordered = sorted(values)
    return round(ordered[max(0, -(-round(100 * share) * len(ordered) // 100) - 1)], 2) if ordered else None


async def make_trouble(scene: Scene, args: argparse.Namespace, report: Report) -> list[tuple[str, float]]:
    """Faults until the time is up, each possible kind before any comes again; which hurt the worker, and when."""
    draw = random.Random(args.seed)  # noqa: S311  not a secret
    names = [name for name in (SHORT if args.short else FAULTS) if FAULTS[name].is_possible(scene)]
    report.not_possible_here = sorted(set(FAULTS) - {name for name in FAULTS if FAULTS[name].is_possible(scene)})
    hurts: list[tuple[str, float]] = []
    until = time.monotonic() + args.seconds
    turn: list[str] = []
    while time.monotonic() < until:
        await asyncio.sleep(draw.uniform(0.5, 1.5) * args.every)
        turn = turn or draw.sample(names, len(names))
        name = turn.pop()
        report.faults[name] = report.faults.get(name, 0) + 1
        try:
            hurt = await FAULTS[name].happen(scene)
        except (OSError, WebSocketException, TimeoutError) as error:
            print(f"{name}: {error!r}", file=sys.stderr)  # an attacker that was turned away
            continue
        hurts += [(name, hurt)] if hurt is not None else []
    return hurts


async def watch_health(daemon: Daemon, report: Report) -> None:
    """Ask for ever, as an orchestrator would."""
    while True:
        started = time.monotonic()
        try:
            await asyncio.to_thread(_ask_health, daemon.http)
        except OSError as error:
            print(f"health check: {error!r}", file=sys.stderr)
            report.health_failures += 1
        report.health_s.append(time.monotonic() - started)
        await asyncio.sleep(HEALTH_EVERY_S)


def _ask_health(base: str) -> None:
    with urllib.request.urlopen(f"{base}/health/live", timeout=HEALTH_TIMEOUT_S) as answer:
        answer.read()


def recoveries(hurts: Sequence[tuple[str, float]], clients: Sequence[Client]) -> dict[str, list[float]]:
    """By fault: each time the worker was hurt, until the last client was told that it goes on."""
    found: dict[str, list[float]] = {}
    for number, (name, hurt) in enumerate(hurts):
        following = hurts[number + 1][1] if number + 1 < len(hurts) else float("inf")
        told = [at - hurt for client in clients for at in client.goes_on_at if hurt <= at < following]
        if told:
            found.setdefault(name, []).append(round(max(told), 2))
    return found


async def run(scene: Scene, args: argparse.Namespace, report: Report) -> None:
    """An undisturbed session, then the disturbed ones."""
    daemon = scene.daemon
    sound = conversation(args.seconds, args.audio)
    calm = Client(daemon, sound)
    await calm.talk(is_paced=False)
    report.memory_before_bytes, report.descriptors_before = daemon.memory_bytes(), daemon.descriptors()
    clients = [Client(daemon, sound) for _ in range(args.streams)]
    watching = asyncio.create_task(watch_health(daemon, report))
    talking = asyncio.gather(*(client.talk() for client in clients))
    hurts: list[tuple[str, float]] = []
    if args.swap:
        await swap_models(daemon, args.seconds, report.changes)
    elif args.recycle:
        await let_recycle(daemon, args.seconds, report.changes)
        report.changes.faults += ["a client heard of it" for client in clients if client.goes_on_at]
    else:
        hurts = await make_trouble(scene, args, report)
    await talking
    for client in clients:
        report.losses.add(calm.finals, client)
    report.recoveries_s = recoveries(hurts, clients)
    for connection in scene.held:
        connection.close()
    last = Client(daemon, sound)  # the same as before all this, so that memory can be compared
    await last.talk(is_paced=False)
    report.losses.sessions_lost += not last.has_ended
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    report.unclear_answers = scene.unclear_answers
    report.memory_after_bytes, report.descriptors_after = daemon.memory_bytes(), daemon.descriptors()


async def break_it(args: argparse.Namespace, folder: Path, *, is_inside: bool) -> tuple[Report, list[str]]:
    """The whole story; the report and the daemon's log."""
    if (story := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, story.cancel)  # and everything is put away
    disk_folder = folder / "disk"
    disk_folder.mkdir()
    disk, clock, memory = Disk(disk_folder, is_inside=is_inside), WallClock(folder / "clock"), MemoryGroup()
    report = Report(is_without_network=is_inside)
    environment = {"STATE_DIRECTORY": str(disk_folder / "state"), **clock.environment, **_changed(args, folder)}
    daemon = Daemon(disk_folder, environment, args.log)
    log = asyncio.create_task(asyncio.to_thread(daemon.drain_log))
    try:
        await run(Scene(daemon, disk, clock, memory), args, report)
    finally:
        status = await asyncio.to_thread(daemon.stop)
        await log
        memory.remove()
        disk.remove()
    if status:
        raise SystemExit(f"the daemon left with {status}:\n{''.join(daemon.log[-20:])}")
    return report, daemon.log


def _changed(args: argparse.Namespace, folder: Path) -> Mapping[str, str]:
    """What the daemon has to be told for what is to come."""
    if args.swap:
        return swapping_environment(folder)
    return recycling_environment() if args.recycle else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0, help="how long the clients talk")
    parser.add_argument("--streams", type=int, default=8)
    parser.add_argument("--every", type=float, default=3.0, help="seconds between two faults, on average")
    parser.add_argument("--short", action="store_true", help="only the faults that every machine allows")
    parser.add_argument("--swap", action="store_true", help="change the model instead of hurting anybody")
    parser.add_argument("--recycle", action="store_true", help="replace the worker by fresh ones instead")
    parser.add_argument("--audio", type=Path, metavar="DIR", help="recordings at 16 kHz instead of the bundled ones")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, metavar="FILE", help="keep the daemon's log")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    is_inside = not (args.short or args.swap or args.recycle) and move_inside(["-m", "tools.chaos", *sys.argv[1:]])
    with tempfile.TemporaryDirectory(prefix="edge-asr-chaos-") as folder:
        report, log = asyncio.run(break_it(args, Path(folder), is_inside=is_inside))
    document = report.document()
    if args.json:
        args.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    if not report.is_clean:
        sys.stderr.writelines(log[-60:])
    for name, value in document.items():
        print(f"{name}: {value}")
    raise SystemExit(0 if report.is_clean else 1)


if __name__ == "__main__":
    main()
