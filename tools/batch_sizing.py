"""How far ``edge-asr batch`` grows: a simulation of a foreman, a scheduler, a store of recordings and many workers.

    python tools/batch_sizing.py --hours 10000 --workers 2 16 128 1024 8192

Discrete events. What is simulated: the scheduler hands out tasks one after the other; a worker reads its recording
from a store whose bandwidth all share, and hears it at its real-time factor; the foreman writes transcripts one after
the other; workers end now and then, their recording is begun anew on another one, and they come back after loading the
model. The defaults are assumptions: the real-time factor is to be that of ``edge-asr bench``, and
``--foreman-ms measure`` measures what this machine's disk takes.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Cluster:
    workers: int
    rtf: float
    """Processor seconds of one core for a second of audio."""
    load_s: float = 3.0
    """A worker's start, model and all."""
    scheduler_s: float = 0.001
    """For each task, one after the other."""
    foreman_s: float = 0.004
    """For each transcript, one after the other: written, flushed, noted in the ledger."""
    store_bytes_per_s: float = 1e9
    """What the store of recordings gives to all workers together."""
    bytes_per_s: float = 32_000.0
    """Of audio: 16 bit at 16 kHz."""
    deaths_per_hour: float = 0.0
    """Of one worker."""


@dataclass(frozen=True)
class Outcome:
    wall_s: float
    busy_share: float
    """Of the workers' time, that spent on hearing what counted."""
    busiest: str
    """Of scheduler, store and foreman, the one that was busy for the largest share of the time."""
    busiest_share: float
    repeated_s: float
    """Audio that was heard for nothing, for its worker ended."""
    done: int


def lengths(hours: float, median_s: float, spread: float, seed: int) -> list[float]:
    """Recordings of log-normal length, seconds, in the order of a folder: none."""
    randomly = random.Random(seed)  # noqa: S311  a simulation, not a secret
    found: list[float] = []
    left_s = hours * 3600
    while left_s > 0:
        found.append(min(left_s, randomly.lognormvariate(math.log(median_s), spread)))
        left_s -= found[-1]
    return found


def simulate(recordings: Sequence[float], cluster: Cluster, seed: int = 1) -> Outcome:
    """Hear all recordings once."""
    return _Simulation(recordings, cluster, seed).run()


class _Simulation:
    """Times in seconds. Scheduler, store and foreman are each a queue of one server, known by when they are free."""

    def __init__(self, recordings: Sequence[float], cluster: Cluster, seed: int) -> None:
        self._cluster = cluster
        self._randomly = random.Random(seed)  # noqa: S311  a simulation, not a secret
        self._lengths = recordings
        self._waiting = list(range(len(recordings)))[::-1]
        self._free = {"scheduler": 0.0, "store": 0.0, "foreman": 0.0}
        self._busy = dict.fromkeys(self._free, 0.0)
        self._heard_s = self._repeated_s = 0.0
        self._heard_at_s: list[float] = []
        # A worker asks again when it has nothing left; what it was given ahead hides the way to the foreman and back.
        self._asks: list[tuple[float, int]] = [(cluster.load_s, worker) for worker in range(cluster.workers)]
        heapq.heapify(self._asks)

    def run(self) -> Outcome:
        while self._waiting:
            now_s, worker = heapq.heappop(self._asks)
            heapq.heappush(self._asks, (self._hear(now_s, self._waiting.pop()), worker))
        # By the time they come back; what the foreman does keeps no worker waiting, for each has its next recording.
        wall_s = max(self._served("foreman", heard_s, self._cluster.foreman_s) for heard_s in sorted(self._heard_at_s))
        busy = {name: seconds / wall_s for name, seconds in self._busy.items()}
        busy_share = self._heard_s * self._cluster.rtf / (wall_s * self._cluster.workers)
        busiest = max(busy, key=lambda name: busy[name])
        return Outcome(wall_s, busy_share, busiest, busy[busiest], self._repeated_s, len(self._heard_at_s))

    def _hear(self, now_s: float, number: int) -> float:
        """One recording on one worker; when the worker asks for the next."""
        length_s = self._lengths[number]
        given_s = self._served("scheduler", now_s, self._cluster.scheduler_s)
        read_s = self._served("store", given_s, length_s * self._cluster.bytes_per_s / self._cluster.store_bytes_per_s)
        work_s = length_s * self._cluster.rtf
        died_after_s = self._dies_after_s()
        if died_after_s < work_s:
            self._repeated_s += died_after_s / self._cluster.rtf
            self._waiting.append(number)
            return read_s + died_after_s + self._cluster.load_s
        heard_s = read_s + work_s
        self._heard_s += length_s
        self._heard_at_s.append(heard_s)
        return heard_s

    def _dies_after_s(self) -> float:
        rate = self._cluster.deaths_per_hour / 3600
        return self._randomly.expovariate(rate) if rate else math.inf

    def _served(self, name: str, now_s: float, seconds: float) -> float:
        self._free[name] = max(self._free[name], now_s) + seconds
        self._busy[name] += seconds
        return self._free[name]


def measure_foreman_s(folder: Path, transcripts: int = 200) -> float:
    """What a transcript and its line in the ledger take on the disk of this folder."""
    from edge_asr.batch.ledger import Entry, Ledger, Recipe
    from edge_asr.batch.transcripts import write_transcripts

    recipe = Recipe(
        model="m", model_digest="", settings_digests={"engine": ""}, transcript_format="json", channel="mix"
    )
    ledger = Ledger.open(folder, recipe)
    began_s = time.perf_counter()
    for number in range(transcripts):
        outputs = write_transcripts(folder, {f"{number}.json": "x" * 20_000})
        ledger.record(Entry(place=str(number), file=str(number), size_bytes=1, mtime_ns=1, outputs=outputs))
    seconds = (time.perf_counter() - began_s) / transcripts
    ledger.close()
    return seconds


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--hours", type=float, default=10_000, help="of audio")
    words.add_argument("--median-s", type=float, default=120, help="length of a recording")
    words.add_argument("--spread", type=float, default=1.0, help="of the logarithm of the length")
    words.add_argument(
        "--workers", type=int, nargs="+", default=[2, 16, 128, 1024, 8192], help="processes, a core each"
    )
    words.add_argument("--rtf", type=float, default=0.05, help="from edge-asr bench, one stream and one thread")
    words.add_argument("--scheduler-ms", type=float, default=1.0)
    words.add_argument("--foreman-ms", default="4", help="a number, or `measure`")
    words.add_argument("--store-mb-s", type=float, default=1000, help="of the recordings, to all workers together")
    words.add_argument("--deaths-per-hour", type=float, default=0.01, help="of each worker")
    words.add_argument("--order", choices=["largest", "folder"], default="largest", help="largest: as the foreman does")
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
    if given.foreman_ms == "measure":
        with tempfile.TemporaryDirectory(dir=".") as folder:
            foreman_s = measure_foreman_s(Path(folder))
    else:
        foreman_s = float(given.foreman_ms) / 1000
    base = Cluster(
        workers=1,
        rtf=given.rtf,
        scheduler_s=given.scheduler_ms / 1000,
        foreman_s=foreman_s,
        store_bytes_per_s=given.store_mb_s * 1e6,
        deaths_per_hour=given.deaths_per_hour,
    )
    recordings = lengths(given.hours, given.median_s, given.spread, given.seed)
    if given.order == "largest":
        recordings.sort(reverse=True)
    print(f"{len(recordings)} recordings, {given.hours:g} h, foreman {1000 * foreman_s:.1f} ms each\n")
    print("| workers | hours | times faster than speech | workers busy | heard twice | beside them, busiest |")
    print("|---|---|---|---|---|---|")
    for count in given.workers:
        outcome = simulate(recordings, replace(base, workers=count), given.seed)
        speed = given.hours * 3600 / outcome.wall_s
        repeated = outcome.repeated_s / (given.hours * 3600)
        row = f"| {count} | {outcome.wall_s / 3600:.2f} | {speed:.0f} | {outcome.busy_share:.1%} | {repeated:.3%} |"
        print(f"{row} {outcome.busiest}, {outcome.busiest_share:.0%} |")


if __name__ == "__main__":
    main()
