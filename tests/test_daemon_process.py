"""The daemon as a process, with the bundled model, through every protocol's own client."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import soundfile
from websockets.asyncio.client import ClientConnection
from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncClient
from wyoming.info import Describe

from tests.support.daemon import CLIPS, DaemonProcess
from tests.support.doors import native_client, read_messages

pytestmark = pytest.mark.model

SAID = {"go-forward.flac": "go forward ten meters", "five-five.flac": "five five"}
CLIP_NAMES = pytest.mark.parametrize("clip", SAID)


@pytest.fixture(scope="module")
def daemon() -> Iterator[DaemonProcess]:
    with DaemonProcess() as running:
        yield running


def pcm(clip: str) -> bytes:
    samples, rate = soundfile.read(CLIPS / clip, dtype="int16")
    assert rate == 16_000
    return bytes(samples.tobytes())


async def over_native(daemon: DaemonProcess, clip: str) -> list[dict[str, Any]]:
    async with native_client(daemon.http) as client:
        await open_session(client)
        await send(client, pcm(clip))
        await client.send('{"type":"finish"}')
        return await read_messages(client)


async def open_session(client: ClientConnection) -> None:
    await client.send('{"type":"hello"}')
    assert json.loads(await client.recv())["type"] == "ready"


async def send(client: ClientConnection, audio: bytes) -> None:
    for start in range(0, len(audio), 3333):
        await client.send(audio[start : start + 3333])


async def over_wyoming(daemon: DaemonProcess, clip: str) -> list[str]:
    """Texts of all transcripts."""
    audio = pcm(clip)
    texts = []
    async with AsyncClient.from_uri(daemon.wyoming) as client:
        await client.write_event(Transcribe(language="en").event())
        await client.write_event(AudioStart(rate=16000, width=2, channels=1).event())
        for start in range(0, len(audio), 2048):
            chunk = AudioChunk(rate=16000, width=2, channels=1, audio=audio[start : start + 2048])
            await client.write_event(chunk.event())
        await client.write_event(AudioStop().event())
        await client.write_event(Describe().event())
        while (event := await client.read_event()) is not None:
            if Transcript.is_type(event.type):
                texts.append(Transcript.from_event(event).text)
                break
            assert event.type in ("info", "transcript-start", "transcript-chunk")
    return texts


async def get(daemon: DaemonProcess, path: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=daemon.http) as client:
        return await client.get(path)


async def over_openai(daemon: DaemonProcess, path: Path, **fields: Any) -> httpx.Response:
    async with httpx.AsyncClient(base_url=daemon.http, timeout=60) as client:
        files = {"file": (path.name, await asyncio.to_thread(path.read_bytes))}
        return await client.post("/v1/audio/transcriptions", data={"model": "whisper-1", **fields}, files=files)


@CLIP_NAMES
async def test_the_native_protocol_hears_the_words_and_ends_once(daemon: DaemonProcess, clip: str) -> None:
    messages = await over_native(daemon, clip)
    assert " ".join(message["text"] for message in messages if message["type"] == "final") == SAID[clip]
    assert [message["type"] for message in messages].count("ended") == 1
    assert messages[-1]["audio_s"] == pytest.approx(len(pcm(clip)) / 32_000, abs=0.01)
    assert any(message["type"] == "partial" for message in messages)


@CLIP_NAMES
async def test_wyoming_hears_the_same_words_in_one_transcript(daemon: DaemonProcess, clip: str) -> None:
    assert await over_wyoming(daemon, clip) == [SAID[clip]]


@CLIP_NAMES
async def test_an_upload_hears_the_same_words(daemon: DaemonProcess, clip: str) -> None:
    response = await over_openai(daemon, CLIPS / clip)
    assert response.json()["text"] == SAID[clip]


async def test_words_of_an_upload_lie_within_its_segments(daemon: DaemonProcess) -> None:
    granularities = {"timestamp_granularities[]": ["word", "segment"], "response_format": "verbose_json"}
    body = (await over_openai(daemon, CLIPS / "go-forward.flac", **granularities)).json()
    (segment,) = body["segments"]
    assert [word["word"] for word in body["words"]] == ["go", "forward", "ten", "meters"]
    starts = [word["start"] for word in body["words"]]
    assert starts == sorted(starts)
    assert segment["start"] <= starts[0]
    assert body["words"][-1]["end"] <= segment["end"] <= body["duration"]


@pytest.mark.parametrize(("content", "code"), [(b"", "audio_unreadable"), (b"\x00\xffnot audio" * 50, None)])
async def test_an_upload_that_is_no_audio_is_refused(
    daemon: DaemonProcess, tmp_path: Path, content: bytes, code: str | None
) -> None:
    path = tmp_path / "speech.wav"
    path.write_bytes(content)
    response = await over_openai(daemon, path)
    assert response.status_code in (400, 415)
    assert code is None or response.json()["error"]["code"] == code


async def test_sessions_over_all_protocols_at_once_do_not_mix(daemon: DaemonProcess) -> None:
    clip = "go-forward.flac"
    native, wyoming, upload = await asyncio.gather(
        over_native(daemon, "five-five.flac"), over_wyoming(daemon, clip), over_openai(daemon, CLIPS / clip)
    )
    assert [message["text"] for message in native if message["type"] == "final"] == ["five five"]
    assert (wyoming, upload.json()["text"]) == ([SAID[clip]], SAID[clip])


async def test_fifty_sessions_half_of_them_dropped_leave_nothing_behind(daemon: DaemonProcess) -> None:
    audio = pcm("five-five.flac")
    before = daemon.descriptors
    for batch in range(5):
        await asyncio.gather(*(_talk_or_drop(daemon, audio, drops=number % 2 == 0) for number in range(10)))
        assert daemon.descriptors <= before + 24, f"after batch {batch}"
    assert (await over_native(daemon, "five-five.flac"))[-2]["text"] == "five five"
    status = (await get(daemon, "/status")).json()
    assert (status["sessions"], status["restarts"]) == (0, 0)


async def _talk_or_drop(daemon: DaemonProcess, audio: bytes, *, drops: bool) -> None:
    async with native_client(daemon.http) as client:
        await open_session(client)
        await send(client, audio[: len(audio) // 2])
        if drops:
            client.transport.abort()
            return
        await send(client, audio[len(audio) // 2 :])
        await client.send('{"type":"finish"}')
        assert (await read_messages(client))[-2]["text"] == "five five"


async def test_metrics_count_what_was_decoded(daemon: DaemonProcess) -> None:
    await over_native(daemon, "five-five.flac")
    text = (await get(daemon, "/metrics")).text
    assert 'edge_asr_sessions_total{outcome="ended",protocol="native"}' in text
    (model,) = [line for line in text.splitlines() if line.startswith("edge_asr_model_info{")]
    labels = {'family="zipformer2-ctc"', 'model="starter-en"', 'provider="cpu"'}
    assert labels <= set(re.findall(r'\w+="[^"]*"', model))


async def test_sigterm_lets_a_session_finish_and_exits_0() -> None:
    with DaemonProcess() as daemon:
        async with native_client(daemon.http) as client:
            await open_session(client)
            audio = pcm("go-forward.flac")
            await send(client, audio[:40_000])
            daemon.process.send_signal(signal.SIGTERM)
            await send(client, audio[40_000:])
            await client.send('{"type":"finish"}')
            finals = [message["text"] for message in await read_messages(client) if message["type"] == "final"]
        assert finals == ["go forward ten meters"]
        assert daemon.wait() == 0


async def test_a_final_runs_the_hook_with_itself_as_json(tmp_path: Path) -> None:
    heard = tmp_path / "heard.json"
    with DaemonProcess(EDGE_ASR_HOOK_COMMAND=f"tee,{heard}") as daemon:
        await over_native(daemon, "five-five.flac")
        assert await asyncio.to_thread(daemon.stop) == 0
    spoken = json.loads(await asyncio.to_thread(heard.read_bytes))
    assert (spoken["text"], spoken["protocol"], spoken["model"]) == ("five five", "native", "starter-en")


async def test_a_worker_that_dies_is_replaced_and_its_session_loses_no_word() -> None:
    with DaemonProcess() as daemon:
        async with native_client(daemon.http) as client:
            await open_session(client)
            audio = pcm("go-forward.flac")
            await send(client, audio[:40_000])
            os.kill((await get(daemon, "/status")).json()["worker_pid"], signal.SIGKILL)
            await send(client, audio[40_000:])
            await client.send('{"type":"finish"}')
            messages = await read_messages(client)
        assert [message["text"] for message in messages if message["type"] == "final"] == ["go forward ten meters"]
        assert [message["code"] for message in messages if message["type"] == "notice"] == ["engine_restarted"]
        assert messages[-1]["type"] == "ended"
        assert daemon.stop() == 0


def test_a_taken_port_exits_5_with_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        daemon = DaemonProcess("--port", port)
        assert daemon.wait() == 5
    assert f"error: cannot listen on 127.0.0.1:{port}: another program already listens there" in daemon.log


def test_two_doors_at_one_address_exit_5_with_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    daemon = DaemonProcess("--port", port, "--wyoming", f"tcp://127.0.0.1:{port}")
    assert daemon.wait() == 5
    assert f"cannot listen on tcp://127.0.0.1:{port}: another program already listens there" in daemon.log


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["-m", "nonsense"], 4, "model 'nonsense' is not installed"),
        (["--provider", "nonsense"], 2, "unknown provider 'nonsense'"),
        (["--host", "0.0.0.0"], 2, "--token-file FILE, or --insecure http"),
        (["--wyoming", "tcp://0.0.0.0:0"], 2, "--allow 192.168.1.0/24, or --insecure wyoming"),
        (["--token-file", "/nonexistent"], 2, "/nonexistent"),
        (["--tls-cert", "/nonexistent"], 2, "set both or none"),
        (["--port", "99999"], 2, "server.port"),
    ],
)
def test_what_is_wrong_is_said_with_its_exit_code(options: list[str], code: int, sentence: str) -> None:
    daemon = DaemonProcess(*options)
    assert daemon.wait() == code
    assert sentence in daemon.log
