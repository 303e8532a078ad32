"""Wyoming over real sockets, driven by the reference package's own client."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from dataclasses import replace
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import pytest
from wyoming.asr import Transcribe, Transcript, TranscriptChunk
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong

from edge_asr.events import Failed
from edge_asr.protocols.wyoming import WyomingEvent, encode_event
from edge_asr.settings import LimitSettings
from tests.support.doors import LIMITS, open_descriptors, wyoming_door
from tests.support.recognizer import ScriptedRecognizer
from tests.support.values import REWRITING, final

START = AudioStart(rate=16000, width=2, channels=1).event()
CHUNK = AudioChunk(rate=16000, width=2, channels=1, audio=bytes(2048)).event()
STOP = AudioStop().event()
PING = b'{"type":"ping"}\n'


async def send_utterance(client: AsyncClient) -> None:
    await client.write_event(Transcribe(language="en").event())
    await client.write_event(START)
    for _ in range(3):
        await client.write_event(CHUNK)
    await client.write_event(STOP)


async def read_until(client: AsyncClient, kind: str) -> list[Event]:
    """Events up to the first of this type, or to the end of the connection."""
    events: list[Event] = []
    while (event := await client.read_event()) is not None:
        events.append(event)
        if event.type == kind:
            break
    return events


async def drop(client: AsyncClient) -> None:
    """Hang up at once, whatever is still to be sent or read."""
    assert client._writer is not None
    client._writer.transport.abort()
    with contextlib.suppress(OSError):
        await client.disconnect()


def raw(uri: str) -> tuple[str, int]:
    parts = urlsplit(uri)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


async def test_home_assistants_order_gives_one_transcript() -> None:
    recognizer = ScriptedRecognizer(ready=REWRITING)
    async with wyoming_door(recognizer) as uri, AsyncClient.from_uri(uri) as client:
        await send_utterance(client)
        (event,) = await read_until(client, "transcript")
        assert Transcript.from_event(event) == Transcript("go forward", language="en")
    assert len(recognizer.sessions[0].audio) == 3 * 2048
    assert recognizer.protocols == ["wyoming"]


async def test_chunks_of_an_append_only_model_concatenate_to_the_transcript() -> None:
    async with wyoming_door(ScriptedRecognizer()) as uri, AsyncClient.from_uri(uri) as client:
        await send_utterance(client)
        events = await read_until(client, "transcript-stop")
        assert [event.type for event in events] == [
            "transcript-start",
            "transcript-chunk",
            "transcript-chunk",
            "transcript",
            "transcript-stop",
        ]
        pieces = [TranscriptChunk.from_event(event).text for event in events[1:3]]
        assert "".join(pieces) == Transcript.from_event(events[3]).text == "go forward"


async def test_silence_gives_an_empty_transcript() -> None:
    recognizer = ScriptedRecognizer("", ready=REWRITING)
    async with wyoming_door(recognizer) as uri, AsyncClient.from_uri(uri) as client:
        await send_utterance(client)
        (event,) = await read_until(client, "transcript")
        assert Transcript.from_event(event).text == ""


async def test_two_utterances_on_one_connection() -> None:
    recognizer = ScriptedRecognizer(ready=REWRITING)
    async with wyoming_door(recognizer) as uri, AsyncClient.from_uri(uri) as client:
        for _ in range(2):
            await send_utterance(client)
            (event,) = await read_until(client, "transcript")
            assert Transcript.from_event(event).text == "go forward"
    assert len(recognizer.sessions) == 2


async def test_two_utterances_sent_at_once_are_answered_in_order() -> None:
    recognizer = ScriptedRecognizer(ready=REWRITING)
    async with wyoming_door(recognizer) as uri, AsyncClient.from_uri(uri) as client:
        await send_utterance(client)
        await send_utterance(client)
        assert [event.type for event in await read_until(client, "transcript")] == ["transcript"]
        assert [event.type for event in await read_until(client, "transcript")] == ["transcript"]
    assert recognizer.status().sessions == 0


async def test_describe_is_answered_before_during_and_beside_a_session() -> None:
    recognizer = ScriptedRecognizer()
    recognizer.may_answer.clear()
    async with wyoming_door(recognizer) as uri, AsyncClient.from_uri(uri) as client:
        await client.write_event(Describe().event())
        (event,) = await read_until(client, "info")
        assert Info.from_event(event).asr[0].models[0].name == "starter-en"
        await client.write_event(START)
        await client.write_event(CHUNK)
        await client.write_event(Describe().event())
        assert (await read_until(client, "info"))[-1].type == "info"
        async with AsyncClient.from_uri(uri) as other:
            await other.write_event(Describe().event())
            assert (await read_until(other, "info"))[-1].type == "info"


async def test_a_ping_gets_its_pong() -> None:
    async with wyoming_door(ScriptedRecognizer()) as uri, AsyncClient.from_uri(uri) as client:
        await client.write_event(Ping("x").event())
        (event,) = await read_until(client, "pong")
        assert Pong.from_event(event).text == "x"


async def test_audio_before_the_model_is_loaded_is_an_error_and_not_a_transcript() -> None:
    async with wyoming_door(ScriptedRecognizer(ready=None)) as uri, AsyncClient.from_uri(uri) as client:
        await client.write_event(Describe().event())
        assert Info.from_event((await read_until(client, "info"))[0]).asr[0].models == []
        await client.write_event(START)
        (event,) = await read_until(client, "nothing more")
        assert Error.from_event(event) == Error(
            "not ready: the model is being loaded; try again in a moment", "not_ready"
        )


async def test_a_session_that_fails_is_an_error_and_the_connection_is_closed() -> None:
    recognizer = ScriptedRecognizer()
    recognizer.failure = Failed("s0", "engine_failed", "the engine failed")
    async with wyoming_door(recognizer) as uri, AsyncClient.from_uri(uri) as client:
        await send_utterance(client)
        events = await read_until(client, "nothing more")
        assert Error.from_event(events[-1]).code == "engine_failed"


async def test_a_format_that_changes_is_an_error() -> None:
    async with wyoming_door(ScriptedRecognizer()) as uri, AsyncClient.from_uri(uri) as client:
        await client.write_event(START)
        await client.write_event(AudioChunk(rate=8000, width=2, channels=1, audio=bytes(2)).event())
        (event,) = await read_until(client, "nothing more")
        assert "the audio changed from 16000 Hz" in Error.from_event(event).text


async def test_a_missing_audio_stop_gives_the_transcript_after_the_idle_limit() -> None:
    limits = replace(LIMITS, idle_timeout_s=0.1)
    recognizer = ScriptedRecognizer(ready=REWRITING)
    async with wyoming_door(recognizer, limits=limits) as uri, AsyncClient.from_uri(uri) as client:
        await client.write_event(START)
        await client.write_event(CHUNK)
        (event,) = await read_until(client, "nothing more")
        assert Transcript.from_event(event).text == "go forward"


async def test_a_client_that_falls_silent_within_a_chunk_gets_the_transcript_of_what_came() -> None:
    limits = replace(LIMITS, idle_timeout_s=0.1)
    recognizer = ScriptedRecognizer(ready=REWRITING)
    async with wyoming_door(recognizer, limits=limits) as uri, AsyncClient.from_uri(uri) as client:
        await client.write_event(START)
        await client.write_event(CHUNK)
        assert client._writer is not None
        client._writer.write(b'{"type":"audio-chunk","payload_length":2048}\nhalf of it')
        (event,) = await read_until(client, "nothing more")
        assert Transcript.from_event(event).text == "go forward"


async def test_a_half_closed_connection_still_gets_its_transcript() -> None:
    async with wyoming_door(ScriptedRecognizer(ready=REWRITING)) as uri:
        client = AsyncClient.from_uri(uri)
        await client.connect()
        await client.write_event(START)
        await client.write_event(CHUNK)
        assert client._writer is not None
        client._writer.write_eof()
        assert [event.type for event in await read_until(client, "nothing more")] == ["transcript"]
        await client.disconnect()


async def test_a_connection_that_says_nothing_is_closed_by_the_limits_name() -> None:
    limits = replace(LIMITS, hello_timeout_s=0.1)
    async with wyoming_door(ScriptedRecognizer(), limits=limits) as uri, AsyncClient.from_uri(uri) as client:
        (event,) = await read_until(client, "nothing more")
        assert Error.from_event(event).text.startswith("limits.hello_timeout_s")


async def test_an_oversize_event_is_refused_by_the_limits_name_although_the_client_sends_on() -> None:
    limits = replace(LIMITS, max_message_bytes=4096)
    async with wyoming_door(ScriptedRecognizer(), limits=limits) as uri, AsyncClient.from_uri(uri) as client:
        await client.write_event(START)
        await client.write_event(AudioChunk(rate=16000, width=2, channels=1, audio=bytes(1 << 20)).event())
        (event,) = await read_until(client, "nothing more")
        assert Error.from_event(event).text.startswith("limits.max_message_bytes: a 'audio-chunk' event of 1048")


@pytest.mark.parametrize("garbage", [b"GET / HTTP/1.1\r\n\r\n", b"\x00\xff\n", b"[]\n", b'{"type":"audio-start"}\n'])
async def test_garbage_is_answered_with_an_error_and_hurts_nobody(garbage: bytes) -> None:
    async with wyoming_door(ScriptedRecognizer(ready=REWRITING)) as uri, AsyncClient.from_uri(uri) as client:
        await client.write_event(START)
        reader, writer = await asyncio.open_connection(*raw(uri))
        writer.write(garbage)
        assert b'"type":"error"' in await reader.read()
        writer.close()
        await writer.wait_closed()
        await client.write_event(STOP)
        assert [event.type for event in await read_until(client, "transcript")] == ["transcript"]


async def test_a_reset_connection_frees_its_session() -> None:
    recognizer = ScriptedRecognizer()
    async with wyoming_door(recognizer) as uri:
        client = AsyncClient.from_uri(uri)
        await client.connect()
        await client.write_event(START)
        await recognizer.session_opened.wait()
        assert client._writer is not None
        client._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await drop(client)
        await recognizer.is_idle.wait()


async def test_a_client_that_reads_nothing_is_dropped_and_its_session_freed(tmp_path: Path) -> None:
    recognizer = ScriptedRecognizer()
    limits = replace(LIMITS, idle_timeout_s=0.2)
    path = tmp_path / "wyoming.sock"
    async with wyoming_door(recognizer, limits=limits, wyoming=f"unix://{path}"):
        before = open_descriptors()
        reader, writer = await asyncio.open_unix_connection(path)
        cast("asyncio.Transport", writer.transport).pause_reading()
        writer.write(encode_event(WyomingEvent("audio-start", {"rate": 16000, "width": 2, "channels": 1})))
        await recognizer.session_opened.wait()
        recognizer.sessions[0].say(final("word " * 400_000))
        await recognizer.sessions[0].is_cancelled.wait()
        cast("asyncio.Transport", writer.transport).resume_reading()
        assert len(await reader.read()) < 2_000_000
        writer.close()
        await writer.wait_closed()
        assert open_descriptors() <= before


@pytest.mark.parametrize("events", [[], [START], [START, CHUNK], [START, CHUNK, STOP]], ids=len)
async def test_many_connects_and_drops_leak_no_descriptor_and_no_session(events: list[Event]) -> None:
    recognizer = ScriptedRecognizer(max_sessions=100)
    async with wyoming_door(recognizer) as uri:
        before = open_descriptors()
        for _ in range(50):
            client = AsyncClient.from_uri(uri)
            await client.connect()
            for event in events:
                await client.write_event(event)
            await drop(client)
        await recognizer.is_idle.wait()
    assert recognizer.status().sessions == 0
    assert open_descriptors() <= before


async def test_connections_far_beyond_the_sessions_are_refused() -> None:
    limits = LimitSettings(max_sessions=1, hello_timeout_s=20)
    async with wyoming_door(ScriptedRecognizer(), limits=limits) as uri:
        held = [await asyncio.open_connection(*raw(uri)) for _ in range(65)]
        for held_reader, held_writer in held:
            held_writer.write(PING)
            await held_reader.readline()
        reader, writer = await asyncio.open_connection(*raw(uri))
        assert b"limits.max_sessions" in await reader.read()
        for _, open_writer in [*held, (reader, writer)]:
            open_writer.close()
            await open_writer.wait_closed()


async def test_clients_that_come_at_one_moment_are_all_answered() -> None:
    limits = LimitSettings(max_sessions=1, hello_timeout_s=20)
    async with wyoming_door(ScriptedRecognizer(), limits=limits) as uri:
        held = await asyncio.gather(*(asyncio.open_connection(*raw(uri)) for _ in range(70)))
        for _, writer in held:
            writer.write(PING)
        answers = [await reader.readline() for reader, _ in held]
        assert sum(b'"pong"' in answer for answer in answers) == 65
        assert sum(b'"error"' in answer for answer in answers) == 5
        for _, writer in held:
            writer.close()
            await writer.wait_closed()


async def test_connections_that_say_nothing_give_way_to_who_has_something_to_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("edge_asr.servers.stream.NEW_S", 0.0)
    limits = LimitSettings(max_sessions=1, hello_timeout_s=20)
    async with wyoming_door(ScriptedRecognizer(), limits=limits) as uri:
        held = [await asyncio.open_connection(*raw(uri)) for _ in range(200)]
        reader, writer = await asyncio.open_connection(*raw(uri))
        writer.write(PING)
        assert b'"pong"' in await reader.readline()
        assert await held[0][0].read() == b""
        for _, open_writer in [*held, (reader, writer)]:
            open_writer.close()
            with contextlib.suppress(OSError):
                await open_writer.wait_closed()


async def test_wyoming_over_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "wyoming.sock"
    async with wyoming_door(ScriptedRecognizer(ready=REWRITING), wyoming=f"unix://{path}") as uri:
        assert path.stat().st_mode & 0o777 == 0o660
        async with AsyncClient.from_uri(uri) as client:
            await send_utterance(client)
            assert [event.type for event in await read_until(client, "transcript")] == ["transcript"]
    assert not path.exists()
