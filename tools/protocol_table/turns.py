"""From the end of speech to the transcript: Home Assistant's sequence beside the native protocol's, in turns."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient

from tools.protocol_table.daemon import Daemon
from tools.protocol_table.program import PIECE_BYTES, speaks
from tools.protocol_table.recording import RATE_HZ, Recording, pieces

FIRST_S = 2.0
"""Of the recording: the first command and some of the pause."""

PIECE_S = PIECE_BYTES / 2 / RATE_HZ
LAYOUT = {"rate": RATE_HZ, "width": 2, "channels": 1}


@dataclass(frozen=True)
class Latency:
    """Of all turns of one protocol, seconds."""

    protocol: str
    waits_s: tuple[float, ...]

    def percentile_s(self, share: float) -> float:
        """Nearest rank."""
        ordered = sorted(self.waits_s)
        return ordered[max(0, math.ceil(len(ordered) * share) - 1)]

    def document(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "protocol": self.protocol,
            "turns": len(self.waits_s),
            "p50_s": self.percentile_s(0.5),
            "p95_s": self.percentile_s(0.95),
        }


async def measure(daemon: Daemon, recording: Recording, turns: int) -> tuple[Latency, Latency]:
    """Native and Wyoming, one after the other, at the pace of speech."""
    clip = recording.pcm[: round(FIRST_S * RATE_HZ) * 2]
    native, wyoming = [], []
    for _ in range(turns):
        native.append(await _native(daemon, clip))
        wyoming.append(await _wyoming(daemon, clip))
    return Latency("native", tuple(native)), Latency("Wyoming", tuple(wyoming))


async def _paced(clip: bytes, send: Callable[[bytes], Awaitable[None]]) -> None:
    started = time.monotonic()
    for number, piece in enumerate(pieces(clip, PIECE_BYTES), start=1):
        await asyncio.sleep(max(0.0, started + number * PIECE_S - time.monotonic()))
        await send(piece)


async def _native(daemon: Daemon, clip: bytes) -> float:
    async with speaks(f"{daemon.websocket}/v1/stream") as socket:
        await socket.send('{"type": "hello"}')
        await _paced(clip, socket.send)
        ended = time.monotonic()
        await socket.send('{"type": "finish"}')
        async for message in socket:
            if json.loads(message)["type"] == "ended":
                return time.monotonic() - ended
    raise ConnectionError("no end")


async def _wyoming(daemon: Daemon, clip: bytes) -> float:
    async with AsyncTcpClient("127.0.0.1", daemon.wyoming_port) as client:
        await client.write_event(Transcribe(language="en").event())
        await client.write_event(AudioStart(**LAYOUT).event())
        await _paced(clip, lambda piece: client.write_event(AudioChunk(audio=piece, **LAYOUT).event()))
        ended = time.monotonic()
        await client.write_event(AudioStop().event())
        while (event := await client.read_event()) is not None:
            if Transcript.is_type(event.type):
                return time.monotonic() - ended
    raise ConnectionError("no transcript")
