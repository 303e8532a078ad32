"""Wyoming, with the ``wyoming`` package and in the order of Home Assistant."""

from __future__ import annotations

from wyoming.asr import Transcribe, Transcript, TranscriptChunk
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Describe, Info

from tools.protocol_table.daemon import Daemon
from tools.protocol_table.program import PIECE_BYTES, UNKNOWN, Heard
from tools.protocol_table.recording import RATE_HZ, Recording, pieces


async def wyoming_listen(daemon: Daemon, recording: Recording) -> Heard:
    async with AsyncTcpClient("127.0.0.1", daemon.wyoming_port) as client:
        await client.write_event(Describe().event())
        info = Info.from_event(await _event(client))
    heard = Heard(partials=0 if info.asr[0].supports_transcript_streaming else None, times_s=None)
    async with AsyncTcpClient("127.0.0.1", daemon.wyoming_port) as client:
        await client.write_event(Transcribe(language="en").event())
        await _wyoming_audio(client, recording.pcm)
        await client.write_event(AudioStop().event())
        while not heard.ends:
            event = await _event(client)
            if TranscriptChunk.is_type(event.type):
                heard.partials = (heard.partials or 0) + 1
            if Transcript.is_type(event.type):
                heard.segments.append(Transcript.from_event(event).text)
                heard.ends += 1
    return heard


async def _wyoming_audio(client: AsyncTcpClient, pcm: bytes) -> None:
    layout = {"rate": RATE_HZ, "width": 2, "channels": 1}
    await client.write_event(AudioStart(**layout).event())
    for piece in pieces(pcm, PIECE_BYTES):
        await client.write_event(AudioChunk(audio=piece, **layout).event())


async def _event(client: AsyncTcpClient) -> Event:
    event = await client.read_event()
    if event is None:
        raise ConnectionError("the connection ended")
    return event


async def wyoming_err(daemon: Daemon, recording: Recording) -> str:
    async with AsyncTcpClient("127.0.0.1", daemon.wyoming_port) as client:
        await client.write_event(Transcribe(name=UNKNOWN).event())
        await _wyoming_audio(client, recording.pcm[:PIECE_BYTES])
        return Error.from_event(await _event(client)).text


async def wyoming_drop(daemon: Daemon, recording: Recording) -> None:
    client = AsyncTcpClient("127.0.0.1", daemon.wyoming_port)
    await client.connect()
    await _wyoming_audio(client, recording.pcm[:PIECE_BYTES])
    assert client._writer is not None  # noqa: SLF001  the package has no way to hang up
    client._writer.transport.abort()  # noqa: SLF001
