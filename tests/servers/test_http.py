"""The HTTP door, with a real client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from edge_asr.events import Failed, Notice
from edge_asr.servers.http import is_own_name, is_same_origin
from tests.support.doors import LIMITS, http_door
from tests.support.recognizer import ScriptedRecognizer

PATH = "/v1/audio/transcriptions"


def upload(content: bytes = b"RIFF....", name: str = "speech.wav") -> dict[str, Any]:
    return {"file": (name, content)}


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def post(base: str, *, data: dict[str, Any] | None = None, **kwargs: Any) -> httpx.Response:
    async with httpx.AsyncClient(base_url=base) as client:
        return await client.post(PATH, data=data or {"model": "whisper-1"}, **kwargs)


async def get(base: str, path: str, **kwargs: Any) -> httpx.Response:
    async with httpx.AsyncClient(base_url=base) as client:
        return await client.get(path, **kwargs)


async def test_an_upload_becomes_text() -> None:
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer) as base:
        response = await post(base, files=upload(b"the audio"))
    assert (response.status_code, response.json()["text"]) == (200, "go forward")
    assert recognizer.sessions[0].recording == b"the audio"
    assert recognizer.sessions[0].options.is_batch
    assert recognizer.protocols == ["openai"]


@pytest.mark.parametrize(
    ("response_format", "media_type"),
    [
        ("json", "application/json"),
        ("verbose_json", "application/json"),
        ("text", "text/plain; charset=utf-8"),
        ("srt", "application/x-subrip; charset=utf-8"),
        ("vtt", "text/vtt; charset=utf-8"),
    ],
)
async def test_every_format_has_its_media_type(response_format: str, media_type: str) -> None:
    async with http_door(ScriptedRecognizer()) as base:
        response = await post(base, data={"response_format": response_format}, files=upload())
    assert response.status_code == 200
    assert response.headers["content-type"] == media_type
    assert "go forward" in response.text


async def test_the_spooled_upload_is_deleted(tmp_path: Path) -> None:
    async with http_door(ScriptedRecognizer(), spool_directory=tmp_path) as base:
        await post(base, files=upload())
    assert files_in(tmp_path) == []


async def test_an_upload_that_is_too_large_is_refused_by_the_limits_name() -> None:
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer, limits=replace(LIMITS, max_upload_bytes=4096)) as base:
        response = await post(base, files=upload(bytes(3_000_000)))
    assert response.status_code == 413
    assert response.json()["error"]["message"].startswith("limits.max_upload_bytes: an upload of more than 4096 bytes")
    assert recognizer.sessions == []


async def test_the_text_fields_of_a_form_are_bounded() -> None:
    async with http_door(ScriptedRecognizer()) as base:
        response = await post(base, data={"prompt": "x" * 70_000}, files=upload())
    assert response.status_code == 413
    assert "form field 'prompt'" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("kwargs", "status", "sentence"),
    [
        ({"content": b"RIFF"}, 415, "send the audio as multipart/form-data"),
        ({"files": {"sound": ("a.wav", b"x")}}, 400, "in the field 'file'"),
        ({"files": {"colour": (None, "blue")}}, 400, "the form has no file"),
        ({"content": b"--x\r\nbad", "headers": {"content-type": "multipart/form-data; boundary=x"}}, 400, "multipart"),
        (
            {"content": b"", "headers": {"content-type": f"multipart/form-data; boundary={'b' * 300}"}},
            400,
            "the multipart form is damaged",
        ),
    ],
)
async def test_a_form_that_is_none_is_refused(kwargs: dict[str, Any], status: int, sentence: str) -> None:
    async with http_door(ScriptedRecognizer()) as base, httpx.AsyncClient(base_url=base) as client:
        response = await client.post(PATH, **kwargs)
    assert response.status_code == status
    assert sentence in response.json()["error"]["message"]


async def test_a_wrong_field_is_refused_by_its_name() -> None:
    async with http_door(ScriptedRecognizer()) as base:
        response = await post(base, data={"response_format": "docx"}, files=upload())
    assert (response.status_code, response.json()["error"]["param"]) == (400, "response_format")


@pytest.mark.parametrize(
    ("code", "status"),
    [("audio_unreadable", 400), ("audio_unsupported", 415), ("limit_exceeded", 413), ("engine_failed", 500)],
)
async def test_a_failed_session_has_the_status_of_its_reason(code: str, status: int) -> None:
    recognizer = ScriptedRecognizer()
    recognizer.failure = Failed("s0", code, "it went wrong")
    async with http_door(recognizer) as base:
        response = await post(base, files=upload())
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)


async def test_an_overloaded_daemon_says_when_to_try_again() -> None:
    async with http_door(ScriptedRecognizer(max_sessions=0)) as base:
        response = await post(base, files=upload())
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert response.json()["error"]["code"] == "overloaded"


async def test_a_daemon_that_still_loads_says_so() -> None:
    async with http_door(ScriptedRecognizer(ready=None)) as base:
        response = await post(base, files=upload())
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert "the model is being loaded" in response.json()["error"]["message"]


async def test_a_client_that_hangs_up_while_its_upload_is_recognised_frees_the_session() -> None:
    recognizer = ScriptedRecognizer()
    recognizer.may_answer.clear()
    async with http_door(recognizer) as base:
        posting = asyncio.create_task(post(base, files=upload()))
        await recognizer.session_opened.wait()
        posting.cancel()
        await recognizer.sessions[0].is_cancelled.wait()


async def test_an_upload_that_stalls_is_refused_by_the_limits_name(tmp_path: Path) -> None:
    limits = replace(LIMITS, idle_timeout_s=0.1)
    async with http_door(ScriptedRecognizer(), limits=limits, spool_directory=tmp_path) as base:
        parts = urlsplit(base)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        head = "Host: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 9999\r\n"
        writer.write(f"POST {PATH} HTTP/1.1\r\n{head}\r\n--b\r\n".encode())
        answer = await reader.readuntil(b"}}")
        assert b" 413 " in answer
        assert b"limits.idle_timeout_s: an upload that paused for 0.1 s" in answer
        writer.close()
        await writer.wait_closed()
    assert files_in(tmp_path) == []


async def test_an_upload_without_a_length_is_watched_while_it_comes() -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
        for _ in range(100):
            yield bytes(100_000)

    async with (
        http_door(ScriptedRecognizer(), limits=replace(LIMITS, max_upload_bytes=4096)) as base,
        httpx.AsyncClient(base_url=base) as client,
    ):
        headers = {"content-type": "multipart/form-data; boundary=b"}
        response = await client.post(PATH, content=endless(), headers=headers)
        assert response.status_code == 413


async def test_health_tells_live_from_ready() -> None:
    async with http_door(ScriptedRecognizer(ready=None)) as base:
        live, ready = await get(base, "/health/live"), await get(base, "/health/ready")
    assert live.status_code == 200
    assert ready.status_code == 503
    assert ready.json() == {"state": "starting", "reason": "the model is being loaded"}


async def test_a_loaded_daemon_is_ready_and_lists_its_model() -> None:
    async with http_door(ScriptedRecognizer()) as base:
        assert (await get(base, "/health/ready")).status_code == 200
        assert (await get(base, "/v1/models")).json()["data"][0]["id"] == "starter-en"
        assert (await get(base, "/metrics")).text == "edge_asr_up 1\n"
        assert (await get(base, "/status")).json() == {"state": "ready"}
        assert "/v1/stream" in (await get(base, "/")).text


async def test_an_unknown_path_and_a_wrong_method_have_openais_error_shape() -> None:
    async with http_door(ScriptedRecognizer()) as base:
        unknown, wrong = await get(base, "/v1/nothing"), await get(base, PATH)
    assert (unknown.status_code, wrong.status_code) == (404, 405)
    assert unknown.json()["error"]["message"] == "GET /v1/nothing: Not Found"


async def test_only_the_probes_and_the_page_are_open_without_the_token(tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("t" * 32)
    token_file.chmod(0o600)
    right = {"Authorization": f"Bearer {'t' * 32}"}
    async with http_door(ScriptedRecognizer(), token_file=str(token_file)) as base:
        statuses = {path: (await get(base, path)).status_code for path in ("/status", "/metrics", "/v1/models")}
        assert set(statuses.values()) == {401}
        assert (await get(base, "/health/ready")).status_code == 200
        assert (await get(base, "/health/live")).status_code == 200
        assert (await get(base, "/")).status_code == 200
        assert (await get(base, "/page/main.js")).status_code == 200
        assert (await get(base, "/status", headers=right)).status_code == 200
        refused = await get(base, "/status", headers={"Authorization": "Bearer wrong"})
    assert refused.headers["www-authenticate"] == "Bearer"
    assert "Authorization: Bearer TOKEN" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("origin", "host", "is_same"),
    [
        ("", "127.0.0.1:8765", True),
        ("http://127.0.0.1:8765", "127.0.0.1:8765", True),
        ("https://Board.local", "board.local", True),
        ("http://evil.example", "127.0.0.1:8765", False),
        ("http://127.0.0.1:8080", "127.0.0.1:8765", False),
        ("null", "127.0.0.1:8765", False),
    ],
)
def test_a_page_of_another_site_is_told_from_our_own(origin: str, host: str, is_same: bool) -> None:
    assert is_same_origin(origin, host) is is_same


async def test_a_page_of_another_site_may_not_even_read() -> None:
    async with http_door(ScriptedRecognizer()) as base:
        refused = await get(base, "/status", headers={"Origin": "http://evil.example"})
        own = await get(base, "/status", headers={"Origin": base})
    assert (refused.status_code, own.status_code) == (403, 200)
    assert refused.json()["error"]["code"] == "forbidden_origin"


async def test_an_upload_without_a_place_to_wait_in_is_an_answer_and_no_traceback(tmp_path: Path) -> None:
    async with http_door(ScriptedRecognizer(), spool_directory=tmp_path / "gone") as base:
        response = await post(base, files=upload())
    assert response.status_code == 500
    assert "uploads have no place to wait in" in response.json()["error"]["message"]


async def test_what_a_client_should_know_is_a_warning() -> None:
    recognizer = ScriptedRecognizer()
    recognizer.first_word = Notice("s0", "samples_replaced", "samples that are not finite were replaced by silence")
    async with http_door(recognizer) as base:
        answer = await post(base, data={"response_format": "verbose_json", "keywords[]": "kitchen"}, files=upload())
    replaced, ignored = answer.json()["warnings"]
    assert replaced.startswith("samples that are not finite")
    assert ignored == "starter-en ignores hotwords: its decoder cannot be biased towards words"


@pytest.mark.parametrize(
    ("host", "is_own"),
    [
        ("", True),
        ("127.0.0.1:8765", True),
        ("[::1]:8765", True),
        ("LocalHost:8765", True),
        ("board", True),
        ("board.local:8765", True),
        ("evil.example:8765", False),
        ("evil.example.", False),
        ("local.evil.example", False),
        ("127.0.0.1.evil.example", False),
    ],
)
def test_names_that_a_site_may_have_are_told_from_those_of_this_machine(host: str, is_own: bool) -> None:
    assert is_own_name(host) is is_own


async def test_a_site_that_gave_its_name_our_address_may_not_read() -> None:
    async with http_door(ScriptedRecognizer()) as base:
        rebound = {"Host": "evil.example:8765", "Origin": "http://evil.example:8765"}
        refused = await get(base, "/status", headers=rebound)
    assert refused.status_code == 403
    assert "not known as evil.example:8765; use 127.0.0.1 or localhost" in refused.json()["error"]["message"]


async def test_with_the_token_the_daemon_answers_to_every_name(tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("t" * 32)
    token_file.chmod(0o600)
    async with http_door(ScriptedRecognizer(), token_file=str(token_file)) as base:
        headers = {"Authorization": f"Bearer {'t' * 32}", "Host": "asr.example"}
        assert (await get(base, "/status", headers=headers)).status_code == 200


@pytest.mark.parametrize("head", ["X-Long: " + "a" * 9000, "\r\n".join(f"X-{number}: 1" for number in range(130))])
async def test_a_handshake_that_the_websocket_library_cannot_read_is_refused_at_once(head: str) -> None:
    async with http_door(ScriptedRecognizer()) as base:
        parts = urlsplit(base)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        upgrade = "Upgrade: websocket\r\nConnection: Upgrade"
        writer.write(f"GET /v1/stream HTTP/1.1\r\nHost: {parts.netloc}\r\n{upgrade}\r\n{head}\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"lines of 8192 bytes at most, and 128 headers" in answer
