"""The native protocol over real websockets."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import struct
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import InvalidStatus

from edge_asr.errors import LimitExceeded, Overloaded, ProtocolViolation
from edge_asr.events import Failed
from edge_asr.servers.websocket import close_code, close_reason
from tests.support.doors import LIMITS, http_door, native_client, open_descriptors, read_messages
from tests.support.recognizer import ScriptedRecognizer

HELLO = '{"type":"hello"}'
FINISH = '{"type":"finish"}'


async def say_hello(client: ClientConnection) -> dict[str, object]:
    await client.send(HELLO)
    ready: dict[str, object] = json.loads(await client.recv())
    return ready


async def test_a_session_from_hello_to_end() -> None:
    async with http_door(ScriptedRecognizer()) as base, native_client(base) as client:
        assert (await say_hello(client))["model"] == "starter-en"
        await client.send(bytes(32_000))
        await client.send(FINISH)
        messages = await read_messages(client)
        assert [message["type"] for message in messages] == ["partial", "final", "ended"]
        assert messages[1]["text"] == "go forward"
        assert messages[2]["audio_s"] == 1.0
        assert client.close_code == 1000


async def test_the_recogniser_gets_the_audio_byte_for_byte() -> None:
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer) as base, native_client(base) as client:
        await say_hello(client)
        for piece in (b"\x01", b"\x02\x03", b"\x04"):
            await client.send(piece)
        await client.send(FINISH)
        await read_messages(client)
    assert bytes(recognizer.sessions[0].audio) == b"\x01\x02\x03\x04"
    assert recognizer.protocols == ["native"]


async def test_a_flush_gives_a_final_and_the_session_goes_on() -> None:
    async with http_door(ScriptedRecognizer()) as base, native_client(base) as client:
        await say_hello(client)
        await client.send('{"type":"flush"}')
        assert json.loads(await client.recv())["reason"] == "flush"
        await client.send(FINISH)
        assert [message["type"] for message in await read_messages(client)] == ["final", "ended"]


async def test_a_ping_is_answered_while_the_session_decodes() -> None:
    recognizer = ScriptedRecognizer()
    recognizer.may_answer.clear()
    async with http_door(recognizer) as base, native_client(base) as client:
        await say_hello(client)
        await client.send('{"type":"ping","text":"there?"}')
        assert json.loads(await client.recv()) == {"type": "pong", "text": "there?"}


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        (["{"], "is not JSON"),
        ([b"\0\0"], "audio before the hello"),
        (['{"type":"hello","rate":8000}'], "unknown field 'rate'"),
        ([HELLO, HELLO], "one connection carries one session"),
    ],
)
async def test_a_violation_is_told_and_closes(messages: list[str | bytes], sentence: str) -> None:
    async with http_door(ScriptedRecognizer()) as base, native_client(base) as client:
        for message in messages:
            await client.send(message)
        failed = (await read_messages(client))[-1]
        assert (failed["type"], failed["code"]) == ("failed", "protocol_violation")
        assert sentence in failed["message"]
        assert client.close_code == 1008
        assert client.close_reason
        assert client.close_reason in failed["message"]


async def test_a_violation_frees_the_session() -> None:
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer) as base, native_client(base) as client:
        await say_hello(client)
        await client.send("{")
        await read_messages(client)
        assert recognizer.sessions[0].is_cancelled.is_set()


async def test_an_oversize_message_is_refused_by_the_limits_name() -> None:
    limits = replace(LIMITS, max_message_bytes=4096)
    async with http_door(ScriptedRecognizer(), limits=limits) as base, native_client(base) as client:
        await say_hello(client)
        await client.send(bytes(5000))
        failed = (await read_messages(client))[-1]
        assert failed["code"] == "limit_exceeded"
        assert failed["message"].startswith("limits.max_message_bytes: a message of 5000 bytes exceeds the limit")
        assert client.close_code == 1009


async def test_too_many_sessions_are_refused_and_may_come_again() -> None:
    recognizer = ScriptedRecognizer(max_sessions=1)
    async with http_door(recognizer) as base, native_client(base) as first:
        await say_hello(first)
        async with native_client(base) as second:
            refusal = await say_hello(second)
            assert (refusal["code"], refusal["is_retryable"], refusal["retry_after_s"]) == ("overloaded", True, 1.0)
            await second.wait_closed()
            assert second.close_code == 1013
        await first.send(FINISH)
        await read_messages(first)
        async with native_client(base) as third:
            assert (await say_hello(third))["type"] == "ready"


async def test_a_handshake_before_the_model_is_loaded_is_refused_so_that_a_balancer_asks_another_daemon() -> None:
    async with http_door(ScriptedRecognizer(ready=None)) as base:
        with pytest.raises(InvalidStatus) as refused:
            await native_client(base)
    response = refused.value.response
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert json.loads(response.body or b"") == {"error": "not ready: the model is being loaded; try again in a moment"}


async def test_a_failing_session_ends_with_its_reason() -> None:
    recognizer = ScriptedRecognizer()
    recognizer.failure = Failed("s0", "worker_died", "the recogniser process ended", is_retryable=True)
    async with http_door(recognizer) as base, native_client(base) as client:
        await say_hello(client)
        await client.send(FINISH)
        messages = await read_messages(client)
        assert [message["type"] for message in messages] == ["failed"]
        assert messages[0]["code"] == "worker_died"


async def test_a_silent_session_gets_its_final_and_is_closed_by_the_limits_name() -> None:
    limits = replace(LIMITS, idle_timeout_s=0.1)
    async with http_door(ScriptedRecognizer(), limits=limits) as base, native_client(base) as client:
        await say_hello(client)
        await client.send(bytes(320))
        messages = await read_messages(client)
        assert [message["type"] for message in messages] == ["partial", "final", "ended"]
        assert client.close_reason is not None
        assert client.close_reason.startswith("limits.idle_timeout_s")


async def test_a_connection_that_never_says_hello_is_closed_by_the_limits_name() -> None:
    limits = replace(LIMITS, hello_timeout_s=0.1)
    async with http_door(ScriptedRecognizer(), limits=limits) as base, native_client(base) as client:
        (failed,) = await read_messages(client)
        assert failed["message"].startswith("limits.hello_timeout_s")


async def test_a_session_longer_than_allowed_gets_its_finals_and_then_the_limit() -> None:
    limits = replace(LIMITS, max_session_s=1.0)
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer, limits=limits) as base, native_client(base) as client:
        await say_hello(client)
        await client.send(bytes(32_000))
        await client.send(bytes(2))
        messages = await read_messages(client)
        assert [message["type"] for message in messages] == ["partial", "final", "failed"]
        assert messages[-1]["message"].startswith("limits.max_session_s")
    assert len(recognizer.sessions[0].audio) == 32_000


async def test_a_slow_recogniser_stops_the_client_from_sending() -> None:
    recognizer = ScriptedRecognizer()
    recognizer.may_take.clear()
    limits = replace(LIMITS, read_ahead_bytes=1 << 20)
    async with http_door(recognizer, limits=limits) as base, native_client(base) as client:
        await say_hello(client)
        sending = asyncio.create_task(_send_much(client))
        done, _ = await asyncio.wait({sending}, timeout=0.3)
        assert not done
        recognizer.may_take.set()
        await sending
        await client.send(FINISH)
        assert (await read_messages(client))[-1]["audio_s"] == 2000 * 0.5


async def test_a_ping_behind_much_audio_is_answered_and_nothing_is_lost() -> None:
    recognizer = ScriptedRecognizer()
    recognizer.may_take.clear()
    async with http_door(recognizer) as base, native_client(base) as client:
        await say_hello(client)
        await _send_much(client)
        await (await client.ping())
        recognizer.may_take.set()
        await client.send(FINISH)
        assert (await read_messages(client))[-1]["audio_s"] == 2000 * 0.5


async def _send_much(client: ClientConnection) -> None:
    for _ in range(2000):
        await client.send(bytes(16_000))


async def test_a_reset_connection_frees_its_session_and_hurts_nobody() -> None:
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer) as base, native_client(base) as other:
        await say_hello(other)
        async with native_client(base) as client:
            await say_hello(client)
            _reset(client)
            await recognizer.sessions[1].is_cancelled.wait()
        await other.send(FINISH)
        assert [message["type"] for message in await read_messages(other)] == ["final", "ended"]


def _reset(client: ClientConnection) -> None:
    raw = client.transport.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.transport.abort()


async def test_a_client_that_reads_nothing_is_dropped_and_its_session_freed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "edge_asr")
    recognizer = ScriptedRecognizer(words="word " * 20_000)
    limits = replace(LIMITS, idle_timeout_s=0.5)
    async with http_door(recognizer, limits=limits) as base, native_client(base, max_queue=1) as client:
        await say_hello(client)
        client.transport.pause_reading()
        session = recognizer.sessions[0]
        sending = asyncio.create_task(_flush_for_ever(client))
        await session.is_cancelled.wait()
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        client.transport.abort()
    assert recognizer.status().sessions == 0
    assert "session s0: dropped: it read nothing for 0.5 s" in caplog.text


async def _flush_for_ever(client: ClientConnection) -> None:
    while True:
        await client.send('{"type":"flush"}')
        await asyncio.sleep(0)


@pytest.mark.parametrize("say", ["nothing", "hello", "audio"])
async def test_many_connects_and_drops_leak_no_descriptor_and_no_session(say: str) -> None:
    recognizer = ScriptedRecognizer(max_sessions=16)
    async with http_door(recognizer) as base:
        before = open_descriptors()
        for round_number in range(70):
            async with native_client(base) as client:
                if say != "nothing":
                    await say_hello(client)
                if say == "audio":
                    await client.send(bytes(640))
                if round_number % 2:
                    client.transport.abort()
        await recognizer.is_idle.wait()
        assert open_descriptors() <= before + 2
    assert recognizer.status().sessions == 0


async def test_raw_garbage_instead_of_http_gets_an_answer() -> None:
    async with http_door(ScriptedRecognizer()) as base:
        parts = urlsplit(base)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(b"\x00\xff" * 100 + b"\r\n\r\n")
        assert (await reader.read(12)) == b"HTTP/1.1 400"
        writer.close()
        await writer.wait_closed()


async def test_a_connection_that_sends_half_a_request_is_closed() -> None:
    async with http_door(ScriptedRecognizer(), limits=replace(LIMITS, hello_timeout_s=0.1)) as base:
        parts = urlsplit(base)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(b"GET / HTTP/1.1\r\nHost:")
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        writer.close()


async def test_a_handshake_without_the_token_is_answered_401(tmp_path) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("t" * 32)
    token_file.chmod(0o600)
    async with http_door(ScriptedRecognizer(), token_file=str(token_file)) as base:
        with pytest.raises(InvalidStatus) as caught:
            async with native_client(base):
                pass
        assert caught.value.response.status_code == 401
        headers = {"Authorization": f"Bearer {'t' * 32}"}
        async with native_client(base, additional_headers=headers) as client:
            assert (await say_hello(client))["type"] == "ready"


async def test_a_page_of_another_site_may_not_open_a_websocket() -> None:
    async with http_door(ScriptedRecognizer()) as base:
        with pytest.raises(InvalidStatus) as caught:
            async with native_client(base, additional_headers={"Origin": "http://evil.example"}):
                pass
    assert caught.value.response.status_code == 403


def test_close_codes_tell_whether_to_try_again() -> None:
    assert close_code(None) == 1000
    assert close_code(Overloaded("all 1 sessions are in use")) == 1013
    assert close_code(ProtocolViolation("x")) == 1008
    assert close_code(LimitExceeded("limits.max_message_bytes", "2", "1")) == 1009


def test_a_long_reason_is_cut_between_characters() -> None:
    reason = close_reason(ProtocolViolation("ä" * 100))
    assert reason == "ä" * 61


def test_a_long_reason_keeps_its_next_step() -> None:
    reason = close_reason(Overloaded("no room " * 20, retry_after_s=7.0))
    assert reason.startswith("no room no room ")
    assert reason.endswith("…; try again in 7 s")
    assert len(reason.encode()) == 123
