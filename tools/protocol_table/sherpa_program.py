"""sherpa-onnx's protocols, with its own client binary and with the loops of its published Python clients."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import struct
import sys
from collections.abc import Callable
from pathlib import Path

from websockets.asyncio.client import ClientConnection

from tools.protocol_table.daemon import Daemon
from tools.protocol_table.program import PIECE_BYTES, Heard, Listen, dropping, speaks, until_closed
from tools.protocol_table.recording import RATE_HZ, Recording, pieces


async def sherpa_binary_listen(daemon: Daemon, recording: Recording) -> Heard:
    program = shutil.which("sherpa-onnx-online-websocket-client", path=str(Path(sys.executable).parent))
    if program is None:
        raise SystemExit("sherpa-onnx-online-websocket-client is missing: pip install sherpa-onnx-bin")
    options = [f"--server-port={daemon.sherpa_port}", "--seconds-per-message=0.01", str(recording.path)]
    process = await asyncio.create_subprocess_exec(program, *options, stderr=asyncio.subprocess.PIPE)
    _, log = await process.communicate()
    results = re.findall(r"OnMessage:\d+ (\{.*\})", log.decode())
    heard = Heard()
    for result in results:
        _sherpa_result(heard, result)
    return heard


async def sherpa_python_listen(daemon: Daemon, recording: Recording) -> Heard:
    """As online-websocket-client-decode-file.py: the last message before ``Done!`` is the result."""
    heard, last = Heard(), ""
    async with speaks(daemon.sherpa) as socket:
        receiving = asyncio.create_task(_until_done(socket))
        for piece in pieces(recording.floats, 4 * 8000):
            await socket.send(piece)
        await socket.send("Done")
        messages = await receiving
    for last in messages:
        _sherpa_result(heard, last)
    heard.segments = [json.loads(last)["text"]]
    return heard


async def _until_done(socket: ClientConnection) -> list[str]:
    messages: list[str] = []
    async for message in socket:
        if message == "Done!":
            return messages
        messages.append(str(message))
    raise ConnectionError("closed before Done!")


def _sherpa_result(heard: Heard, message: str) -> None:
    result = json.loads(message)
    heard.ends += result["is_eof"]
    if not result["is_final"]:
        heard.partials += 1  # type: ignore[operator]
        return
    heard.segments.append(result["text"])
    starts = [result["start_time"] + offset for offset in result["timestamps"]]
    heard.times_s += list(zip(starts, starts, strict=True))  # type: ignore[operator]


async def sherpa_err(daemon: Daemon, recording: Recording) -> str:
    async with speaks(daemon.sherpa) as socket:
        await socket.send(recording.pcm)  # 16 bit, the commonest mistake
        return await until_closed(socket)


def _recording_message(recording: Recording) -> bytes:
    return struct.pack("<ii", RATE_HZ, len(recording.floats)) + recording.floats


def sherpa_offline_listener(address: Callable[[Daemon], str]) -> Listen:
    async def listen(daemon: Daemon, recording: Recording) -> Heard:
        """As offline-websocket-client-decode-files-sequential.py."""
        async with speaks(address(daemon)) as socket:
            for piece in pieces(_recording_message(recording), 10_240):
                await socket.send(piece)
            result = json.loads(await socket.recv())
            await socket.send("Done")
            await until_closed(socket)
        spans = zip(result["timestamps"], result["durations"], strict=True)
        return Heard([result["text"]], None, [(start, start + length) for start, length in spans], 1)

    return listen


async def sherpa_offline_err(daemon: Daemon, _: Recording) -> str:
    async with speaks(f"{daemon.websocket}/sherpa-offline") as socket:
        await socket.send(struct.pack("<ii", RATE_HZ, 7))
        return await until_closed(socket)


sherpa_drop = dropping(lambda daemon: daemon.sherpa, lambda said: said.floats[: 2 * PIECE_BYTES])
sherpa_offline_drop = dropping(lambda daemon: daemon.sherpa, lambda said: _recording_message(said)[:PIECE_BYTES])
