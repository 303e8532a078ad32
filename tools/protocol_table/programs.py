"""Client programs: the packages and binaries that people have, or loops written as the published examples are.

Each sends the recording and says what it heard; sends something wrong and says what it was told; and breaks off in the
middle of the audio.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
import shutil
import struct
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from wyoming.asr import Transcribe, Transcript, TranscriptChunk
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Describe, Info

from tools.protocol_table.daemon import Daemon
from tools.protocol_table.recording import RATE_HZ, Recording, as_pcm, pieces

Listen = Callable[[Daemon, Recording], Awaitable["Heard"]]
Err = Callable[[Daemon, Recording], Awaitable[str]]
Drop = Callable[[Daemon, Recording], Awaitable[None]]

UNKNOWN = "no-such-model"
PIECE_BYTES = 6400
"""0.2 s of 16 bit."""


@dataclass
class Heard:
    """What came back."""

    segments: list[str] = field(default_factory=list)
    partials: int | None = 0
    """``None`` where the protocol has none."""
    times_s: list[tuple[float, float]] | None = field(default_factory=list)
    """Of words, or where the protocol has only those, of segments; ``None`` where it has none."""
    ends: int = 0

    @property
    def text(self) -> str:
        """All segments."""
        return " ".join(segment for segment in self.segments if segment)


@dataclass(frozen=True)
class Program:
    """One client program over one protocol."""

    protocol: str
    client: str
    listen: Listen
    err: Err | None
    """Does something wrong; what the program shows. ``None`` where it has nothing to do wrong."""
    drop: Drop
    last_segment_only: bool = False
    """Whether the program takes the last message for the whole result."""


def speaks(address: str) -> connect:
    """A websocket as the published clients open it."""
    return connect(address, max_size=None)


async def until_closed(socket: ClientConnection) -> str:
    """The reason that the program's user sees."""
    try:
        while True:
            await socket.recv()
    except ConnectionClosed as closed:
        return closed.rcvd.reason if closed.rcvd else str(closed)


def dropping(address: Callable[[Daemon], str], *messages: Callable[[Recording], str | bytes]) -> Drop:
    """Connects, sends the messages and is gone without a word."""

    async def drop(daemon: Daemon, recording: Recording) -> None:
        async with speaks(address(daemon)) as socket:
            for message in messages:
                await socket.send(message(recording))
            socket.transport.abort()

    return drop


# Native


async def native_listen(daemon: Daemon, recording: Recording) -> Heard:
    heard = Heard()
    async with speaks(f"{daemon.websocket}/v1/stream") as socket:
        await socket.send(json.dumps({"type": "hello", "sample_rate_hz": RATE_HZ}))
        for piece in pieces(recording.pcm, PIECE_BYTES):
            await socket.send(piece)
        await socket.send('{"type": "finish"}')
        async for message in socket:
            event = json.loads(message)
            heard.partials += event["type"] == "partial"  # type: ignore[operator]
            heard.ends += event["type"] in ("ended", "failed")
            if event["type"] == "final":
                heard.segments.append(event["text"])
                heard.times_s += [(word["start_s"], word["end_s"]) for word in event["words"]]  # type: ignore[operator]
    return heard


async def native_err(daemon: Daemon, _: Recording) -> str:
    async with speaks(f"{daemon.websocket}/v1/stream") as socket:
        await socket.send(json.dumps({"type": "hello", "model": UNKNOWN}))
        return str(json.loads(await socket.recv())["message"])


# Wyoming: the order of Home Assistant


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


# Vosk: the loop of test.py and test_microphone.py


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
        heard.partials += answer["partial"] != ""  # type: ignore[operator]
    else:
        heard.segments.append(answer["text"])
        heard.times_s += [(word["start"], word["end"]) for word in answer.get("result", [])]  # type: ignore[operator]


async def vosk_err(daemon: Daemon, recording: Recording) -> str:
    async with speaks(daemon.vosk) as socket:
        await socket.send(json.dumps({"config": {"sample_rate": RATE_HZ, "model": UNKNOWN}}))
        await socket.send(recording.pcm[:PIECE_BYTES])
        return await until_closed(socket)


# sherpa-onnx


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


# OpenAI: the openai package


@asynccontextmanager
async def openai_client(daemon: Daemon) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{daemon.http}/v1", api_key="none", max_retries=0) as client:
        yield client


async def openai_listen(daemon: Daemon, recording: Recording) -> Heard:
    async with openai_client(daemon) as client:
        answer = await client.audio.transcriptions.create(
            model="whisper-1",
            file=recording.path,
            response_format="verbose_json",
            timestamp_granularities=["word", "segment"],
        )
    words = [(word.start, word.end) for word in answer.words or ()]
    return Heard([segment.text for segment in answer.segments or ()], None, words, 1)


async def openai_sse_listen(daemon: Daemon, recording: Recording) -> Heard:
    heard = Heard(times_s=None)
    async with openai_client(daemon) as client:
        async for event in await client.audio.transcriptions.create(
            model="whisper-1", file=recording.path, stream=True
        ):
            if event.type == "transcript.text.delta":
                heard.partials += 1  # type: ignore[operator]
            elif event.type == "transcript.text.done":
                heard.segments.append(event.text)
                heard.ends += 1
    return heard


def openai_erring(*, stream: bool) -> Err:
    async def err(daemon: Daemon, recording: Recording) -> str:
        async with openai_client(daemon) as client:
            try:
                await client.audio.transcriptions.create(model=UNKNOWN, file=recording.path, stream=stream)
            except openai.APIStatusError as error:
                return error.message
        return ""

    return err


async def openai_drop(daemon: Daemon, recording: Recording) -> None:
    async with openai_client(daemon) as client:
        file = ("speech.wav", io.BytesIO(recording.path.read_bytes() * 20))
        sending = asyncio.create_task(client.audio.transcriptions.create(model="whisper-1", file=file))
        await asyncio.sleep(0.05)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


def realtime_listener(session: dict[str, Any], encoded: Callable[[Recording], bytes], *, commits: bool) -> Listen:
    async def listen(daemon: Daemon, recording: Recording) -> Heard:
        heard = Heard(times_s=None if commits else [])
        audio, wanted = encoded(recording), 1 if commits else len(recording.segments)
        starts: dict[str, float] = {}
        async with _realtime(daemon) as connection:
            await connection.session.update(session=session)
            for piece in pieces(audio, 4800):
                await connection.input_audio_buffer.append(audio=base64.b64encode(piece).decode())
            if commits:
                await connection.input_audio_buffer.commit()
            while heard.ends < wanted:
                event = await connection.recv()
                kind = event.type.removeprefix("conversation.item.input_audio_transcription.")
                if kind == "delta":
                    heard.partials += 1  # type: ignore[operator]
                elif kind == "completed":
                    heard.segments.append(event.transcript)
                    heard.ends += 1
                elif event.type == "input_audio_buffer.speech_started":
                    starts[event.item_id] = event.audio_start_ms / 1000
                elif event.type == "input_audio_buffer.speech_stopped":
                    heard.times_s.append((starts[event.item_id], event.audio_end_ms / 1000))  # type: ignore[union-attr]
                elif event.type == "error":
                    raise ConnectionError(event.error.message)
        heard.ends = 1 if heard.ends == wanted else heard.ends
        return heard

    return listen


@asynccontextmanager
async def _realtime(daemon: Daemon) -> AsyncIterator[Any]:
    async with (
        openai_client(daemon) as client,
        client.realtime.connect(extra_query={"intent": "transcription"}) as connection,
    ):
        yield connection


async def realtime_err(daemon: Daemon, _: Recording) -> str:
    async with _realtime(daemon) as connection:
        await connection.input_audio_buffer.commit()
        while (event := await connection.recv()).type != "error":
            pass
        return str(event.error.message)


def _append(recording: Recording) -> str:
    audio = base64.b64encode(recording.pcm[:PIECE_BYTES]).decode()
    return json.dumps({"type": "input_audio_buffer.append", "audio": audio})


def realtime_session(kind: str, *, by_silence: bool = False) -> dict[str, Any]:
    """Turns end by silence, or by the client's commit."""
    layout = {"type": kind, **({"rate": 24_000} if kind == "audio/pcm" else {})}
    turns = {"type": "server_vad", "silence_duration_ms": 500} if by_silence else None
    return {"type": "transcription", "audio": {"input": {"format": layout, "turn_detection": turns}}}


def _pcm_24k(recording: Recording) -> bytes:
    return as_pcm(recording.at(24_000)) + bytes(2 * 24_000)  # silence ends the last turn


def _g711(law: str) -> Callable[[Recording], bytes]:
    def encoded(recording: Recording) -> bytes:
        import soundfile as sf

        buffer = io.BytesIO()
        sf.write(buffer, recording.at(8000), 8000, subtype=law, format="RAW")
        return buffer.getvalue()

    return encoded


NATIVE = dropping(
    lambda daemon: f"{daemon.websocket}/v1/stream", lambda _: '{"type": "hello"}', lambda said: said.pcm[:PIECE_BYTES]
)
VOSK = dropping(lambda daemon: daemon.vosk, lambda said: said.pcm[:PIECE_BYTES])
SHERPA = dropping(lambda daemon: daemon.sherpa, lambda said: said.floats[: 2 * PIECE_BYTES])
OFFLINE = dropping(lambda daemon: daemon.sherpa, lambda said: _recording_message(said)[:PIECE_BYTES])
REALTIME = dropping(lambda daemon: f"{daemon.websocket}/v1/realtime?intent=transcription", _append)

PROGRAMS = (
    Program("native", "websockets", native_listen, native_err, NATIVE),
    Program("Wyoming", "wyoming package, Home Assistant's order", wyoming_listen, wyoming_err, wyoming_drop),
    Program("vosk", "test.py loop, /vosk", vosk_listener(lambda daemon: f"{daemon.websocket}/vosk"), vosk_err, VOSK),
    Program("vosk", "test.py loop, own port", vosk_listener(lambda daemon: daemon.vosk), vosk_err, VOSK),
    Program("sherpa", "sherpa-onnx-online-websocket-client", sherpa_binary_listen, None, SHERPA),
    Program(
        "sherpa",
        "online-websocket-client-decode-file.py loop",
        sherpa_python_listen,
        sherpa_err,
        SHERPA,
        last_segment_only=True,
    ),
    Program(
        "sherpa-offline",
        "decode-files-sequential.py loop",
        sherpa_offline_listener(lambda daemon: daemon.sherpa),
        sherpa_offline_err,
        OFFLINE,
    ),
    Program("OpenAI REST", "openai package", openai_listen, openai_erring(stream=False), openai_drop),
    Program("OpenAI SSE", "openai package, stream=True", openai_sse_listen, openai_erring(stream=True), openai_drop),
    Program(
        "OpenAI realtime",
        "openai package, 24 kHz, turns by silence",
        realtime_listener(realtime_session("audio/pcm", by_silence=True), _pcm_24k, commits=False),
        realtime_err,
        REALTIME,
    ),
    Program(
        "OpenAI realtime",
        "openai package, 24 kHz, commit",
        realtime_listener(realtime_session("audio/pcm"), _pcm_24k, commits=True),
        realtime_err,
        REALTIME,
    ),
    Program(
        "OpenAI realtime",
        "openai package, μ-law, commit",
        realtime_listener(realtime_session("audio/pcmu"), _g711("ULAW"), commits=True),
        realtime_err,
        REALTIME,
    ),
    Program(
        "OpenAI realtime",
        "openai package, A-law, commit",
        realtime_listener(realtime_session("audio/pcma"), _g711("ALAW"), commits=True),
        realtime_err,
        REALTIME,
    ),
)
