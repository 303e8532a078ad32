"""OpenAI's interfaces, with the ``openai`` package."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import openai

from tools.protocol_table.daemon import Daemon
from tools.protocol_table.program import PIECE_BYTES, UNKNOWN, Err, Heard, Listen, dropping
from tools.protocol_table.recording import Recording, as_pcm, pieces


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


def pcm_24k(recording: Recording) -> bytes:
    return as_pcm(recording.at(24_000)) + bytes(2 * 24_000)  # silence ends the last turn


def g711(law: str) -> Callable[[Recording], bytes]:
    def encoded(recording: Recording) -> bytes:
        import soundfile as sf

        buffer = io.BytesIO()
        sf.write(buffer, recording.at(8000), 8000, subtype=law, format="RAW")
        return buffer.getvalue()

    return encoded


realtime_drop = dropping(lambda daemon: f"{daemon.websocket}/v1/realtime?intent=transcription", _append)
