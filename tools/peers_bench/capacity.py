"""How many live streams a server carries: the p99 of its step latencies stays under one chunk."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from edge_asr.statistics import Percentile, percentile, samples_needed
from tools.peers_bench.adapters.server import RunningServer
from tools.peers_bench.peer import PeerFailed
from tools.peers_bench.processes import tree_cpu_s
from tools.peers_bench.recordings import PIECE_S, PIECE_SAMPLES, RATE_HZ, Recording
from tools.peers_bench.search import largest_that_holds
from tools.peers_bench.steps import step_latencies_s

LEAD_S = 1.0
"""For all connections to stand before the first sample is spoken."""
MOST_S = 60.0


@dataclass(frozen=True, slots=True)
class Level:
    """One load that was tried."""

    streams: int
    p99_s: float | None
    """Nearest rank; ``None`` when a session failed."""
    steps: int
    late_s: float
    """Largest delay of a piece on our side: when it nears a chunk, the client is the limit."""
    cpu_share: float
    """Processor seconds of the server for each second of each stream; what others use does not change it much."""
    holds: bool


def find_capacity(
    server: RunningServer, recordings: Sequence[Recording], *, start: int, most: int, seconds: float, seed: int
) -> tuple[int, list[Level]]:
    """Largest number of streams that holds, and what was tried."""
    levels: list[Level] = []

    def holds(streams: int) -> bool:
        levels.append(try_level(server, recordings, streams, seconds, seed))
        return levels[-1].holds

    return largest_that_holds(holds, start, most), levels


def try_level(server: RunningServer, recordings: Sequence[Recording], streams: int, seconds: float, seed: int) -> Level:
    """Speak with so many streams for so long; longer where fewer steps than a p99 needs would come."""
    needed_s = samples_needed(99) * server.timing.chunk_s / streams
    seconds = min(MOST_S, max(seconds, needed_s))
    before_s = tree_cpu_s(server.pid)
    try:
        latencies, audio_s, late_s = asyncio.run(_speak_together(server, recordings, streams, seconds, seed))
    except PeerFailed:
        return Level(streams, None, 0, 0.0, 0.0, holds=False)
    p99_s = _p99(latencies)
    cpu_share = (tree_cpu_s(server.pid) - before_s) / audio_s
    return Level(streams, p99_s, len(latencies), late_s, cpu_share, holds=p99_s < server.timing.chunk_s)


async def _speak_together(
    server: RunningServer, recordings: Sequence[Recording], streams: int, seconds: float, seed: int
) -> tuple[list[float], float, float]:
    """Latencies of the steps, seconds of audio in all, and how late we were.

    Streams begin at drawn moments within one chunk, each at another place of the list.
    """
    draw = random.Random(seed)  # noqa: S311  not a secret
    begin_ns = time.monotonic_ns() + round(LEAD_S * 1e9)
    starts = [begin_ns + round(draw.random() * server.timing.chunk_s * 1e9) for _ in range(streams)]
    sessions = await asyncio.gather(
        *(server.converse(script_of(recordings, stream, seconds), start_ns) for stream, start_ns in enumerate(starts))
    )
    padding_samples = server.codec().padding_samples
    latencies = [
        latency_s
        for session in sessions
        for latency_s in step_latencies_s(
            server.timing, session.arrivals, session.spoken_ns, PIECE_SAMPLES, padding_samples
        )
    ]
    audio_s = sum(len(session.spoken_ns) for session in sessions) * PIECE_S
    return latencies, audio_s, max(session.late_s for session in sessions)


def script_of(recordings: Sequence[Recording], first: int, seconds: float) -> list[Recording]:
    """What one stream says: recordings from a place of the list on, the last one cut where the time is over."""
    script: list[Recording] = []
    while (rest_s := seconds - sum(recording.audio_s for recording in script)) > 0:
        recording = recordings[(first + len(script)) % len(recordings)]
        script.append(replace(recording, samples=recording.samples[: math.ceil(rest_s * RATE_HZ)]))
    return script


def _p99(latencies: Sequence[float]) -> float:
    if not latencies:
        return float("inf")
    found = percentile(latencies, 99)
    if isinstance(found, Percentile):
        return found.value
    return max(latencies)  # too few for a p99: the strictest reading of them
