"""vosk-server's protocol, with the loop of its published ``test.py`` and ``test_microphone.py``."""

from __future__ import annotations

import json
from collections.abc import Callable

from tools.protocol_table.daemon import Daemon
from tools.protocol_table.program import PIECE_BYTES, UNKNOWN, Heard, Listen, dropping, speaks, until_closed
from tools.protocol_table.recording import RATE_HZ, Recording, pieces


def vosk_listener(address: Callable[[Daemon], str]) -> Listen:
    async def listen(daemon: Daemon, recording: Recording) -> Heard:
        heard = Heard()
        async with speaks(address(daemon)) as socket:
            await socket.send('{ "config" : { "sample_rate" : %d } }' % RATE_HZ)  # noqa: UP031  as published
            for piece in pieces(recording.pcm, PIECE_BYTES):
                await socket.send(piece)
                _vosk_answer(heard, await socket.recv())
            await socket.send('{"eof" : 1}')
            _vosk_answer(heard, await socket.recv())
            heard.ends += await until_closed(socket) == ""
        return heard

    return listen


def _vosk_answer(heard: Heard, message: str | bytes) -> None:
    answer = json.loads(message)
    if "partial" in answer:
        heard.partials = (heard.partials or 0) + int(answer["partial"] != "")
    else:
        heard.segments.append(answer["text"])
        heard.times_s += [(word["start"], word["end"]) for word in answer.get("result", [])]  # type: ignore[operator]


async def vosk_err(daemon: Daemon, recording: Recording) -> str:
    async with speaks(daemon.vosk) as socket:
        await socket.send(json.dumps({"config": {"sample_rate": RATE_HZ, "model": UNKNOWN}}))
        await socket.send(recording.pcm[:PIECE_BYTES])
        return await until_closed(socket)


vosk_drop = dropping(lambda daemon: daemon.vosk, lambda said: said.pcm[:PIECE_BYTES])
