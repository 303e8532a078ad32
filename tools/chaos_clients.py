"""Live clients that speak, listen, and know afterwards what they lost."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import json
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from edge_asr.workload import OPEN_VOCABULARY, bundled_clips, load_clip
from tools.chaos_daemon import Daemon

RATE_HZ = 16_000
PIECE_S = 0.1
PAUSE_S = 1.6
"""Longer than the endpoint rule waits, so that every recording becomes a final of its own."""
PATIENCE_S = 60.0
"""For the next word of a session. One that is only late, on a machine that cannot keep up, is not lost."""
GOES_ON = "engine_restarted"


def conversation(seconds: float, audio: Path | None = None) -> bytes:
    """Recordings with pauses, as long as that, in 16-bit samples.

    Args:
        seconds: At least.
        audio: Folder of recordings at 16 kHz; ``None`` for the bundled commands.
    """
    pause = np.zeros(round(PAUSE_S * RATE_HZ), np.int16)
    pieces: list[Any] = []
    recordings = _recordings(audio)
    while sum(map(len, pieces)) < seconds * RATE_HZ:
        for samples in recordings:
            pieces += [samples, pause]
            if sum(map(len, pieces)) >= seconds * RATE_HZ:
                break
    return np.concatenate(pieces).astype("<i2").tobytes()


def _recordings(audio: Path | None) -> list[Any]:
    if audio is None:
        return [load_clip(clip).samples for clip in bundled_clips() if clip.vocabulary != OPEN_VOCABULARY]
    import soundfile

    found = []
    for path in sorted(audio.glob("**/*.wav")) + sorted(audio.glob("**/*.flac")):
        samples, rate_hz = soundfile.read(path, dtype="int16")
        if rate_hz == RATE_HZ and samples.ndim == 1:
            found.append(samples)
    if not found:
        raise SystemExit(f"{audio} holds no mono WAV or FLAC files at {RATE_HZ} Hz")
    return found


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
        self._said_s = 0.0

    async def talk(self, *, is_paced: bool = True) -> None:
        """The whole conversation."""
        try:
            async with (
                opened(self._daemon) as socket,
                asyncio.timeout(PATIENCE_S) as patience,
                asyncio.TaskGroup() as group,
            ):
                group.create_task(self._hear(socket, patience))
                await self._say(socket, is_paced=is_paced)
        except* TimeoutError:
            all_s = len(self._sound) / 2 / RATE_HZ
            said = f"{self._said_s:.0f} s of {all_s:.0f} s said, {len(self.finals)} finals heard"
            self.broken_by = f"not a word for {PATIENCE_S:.0f} s; {said}"
        except* (OSError, WebSocketException) as errors:
            self.broken_by = self.broken_by or repr(errors.exceptions[0])

    async def _say(self, socket: ClientConnection, *, is_paced: bool) -> None:
        step = 2 * round(PIECE_S * RATE_HZ)
        started = time.monotonic()
        for first in range(0, len(self._sound), step):
            await socket.send(self._sound[first : first + step])
            self._said_s = (first + step) / 2 / RATE_HZ
            if is_paced:
                await asyncio.sleep(max(0.0, started + (first + step) / 2 / RATE_HZ - time.monotonic()))
        await socket.send('{"type":"finish"}')

    async def _hear(self, socket: ClientConnection, patience: asyncio.Timeout) -> None:
        async for text in socket:
            patience.reschedule(asyncio.get_running_loop().time() + PATIENCE_S)
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
async def opened(daemon: Daemon, encoding: str = "s16le") -> AsyncIterator[ClientConnection]:
    """A session of the native protocol, after its hello."""
    async with connect(daemon.websocket, compression=None, ping_timeout=None, open_timeout=30) as socket:
        await socket.send(json.dumps({"type": "hello", "sample_rate_hz": RATE_HZ, "encoding": encoding}))
        await socket.recv()
        yield socket


@dataclass(slots=True)
class Losses:
    """What clients lost in all."""

    sessions: int = 0
    sessions_lost: int = 0
    finals: int = 0
    finals_lost: int = 0
    finals_doubled: int = 0
    finals_changed: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether nobody lost anything."""
        return not (self.sessions_lost or self.finals_lost or self.finals_doubled)

    def add(self, expected: Sequence[str], client: Client) -> None:
        """What one client lost, against the finals of an undisturbed session."""
        self.sessions += 1
        self.finals += len(expected)
        self.sessions_lost += not client.has_ended
        if client.broken_by:
            print(f"a session broke off: {client.broken_by}", file=sys.stderr)
        self.finals_doubled += len(client.segments) - len(set(client.segments))
        matcher = difflib.SequenceMatcher(a=expected, b=client.finals, autojunk=False)
        for kind, first, last, begin, end in matcher.get_opcodes():
            wanted, got = last - first, end - begin
            if kind != "equal":
                print(f"expected {expected[first:last]}, got {client.finals[begin:end]}", file=sys.stderr)
                self.finals_changed += min(wanted, got)
                self.finals_lost += max(0, wanted - got)
                self.finals_doubled += max(0, got - wanted)
