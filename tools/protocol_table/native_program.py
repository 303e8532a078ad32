"""The native protocol, with the ``websockets`` package."""

from __future__ import annotations

import json

from tools.protocol_table.daemon import Daemon
from tools.protocol_table.program import PIECE_BYTES, UNKNOWN, Heard, dropping, speaks
from tools.protocol_table.recording import RATE_HZ, Recording, pieces


async def native_listen(daemon: Daemon, recording: Recording) -> Heard:
    heard = Heard()
    async with speaks(f"{daemon.websocket}/v1/stream") as socket:
        await socket.send(json.dumps({"type": "hello", "sample_rate_hz": RATE_HZ}))
        for piece in pieces(recording.pcm, PIECE_BYTES):
            await socket.send(piece)
        await socket.send('{"type": "finish"}')
        async for message in socket:
            event = json.loads(message)
            heard.partials = (heard.partials or 0) + int(event["type"] == "partial")
            heard.ends += event["type"] in ("ended", "failed")
            if event["type"] == "final":
                heard.segments.append(event["text"])
                heard.times_s += [(word["start_s"], word["end_s"]) for word in event["words"]]  # type: ignore[operator]
    return heard


async def native_err(daemon: Daemon, _: Recording) -> str:
    async with speaks(f"{daemon.websocket}/v1/stream") as socket:
        await socket.send(json.dumps({"type": "hello", "model": UNKNOWN}))
        return str(json.loads(await socket.recv())["message"])


native_drop = dropping(
    lambda daemon: f"{daemon.websocket}/v1/stream", lambda _: '{"type": "hello"}', lambda said: said.pcm[:PIECE_BYTES]
)
