"""Models of a running daemon, changed as people change them: by a command, by a signal, by what clients ask for."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.daemon import DaemonProcess
from tests.support.doors import native_client, read_messages
from tests.test_daemon_process import pcm, send
from tools.model_swaps import fill_store

pytestmark = pytest.mark.model


class Daemon(DaemonProcess):
    """With a store, a configuration and an admin socket of its own."""

    def __init__(self, home: Path, configuration: str) -> None:
        self.file = home / "edge-asr.toml"
        self.file.write_text(configuration)
        self.variables = {"EDGE_ASR_HOME": str(home), "EDGE_ASR_SERVER_ADMIN_SOCKET": str(home / "admin.sock")}
        super().__init__("--config", str(self.file), **self.variables)

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """``edge-asr models …`` as another process of this machine."""
        line = [sys.executable, "-m", "edge_asr", "models", *words]
        return subprocess.run(line, env=os.environ | self.variables, capture_output=True, text=True, check=False)

    def reload(self, configuration: str) -> None:
        """Write the file and send SIGHUP."""
        self.file.write_text(configuration)
        self.process.send_signal(signal.SIGHUP)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    fill_store(tmp_path)
    with Daemon(tmp_path, "") as running:
        yield running


async def status(daemon: Daemon) -> dict[str, Any]:
    async with httpx.AsyncClient(base_url=daemon.http) as client:
        document: dict[str, Any] = (await client.get("/status")).json()
        return document


async def test_activate_changes_a_running_daemon_and_a_session_loses_no_word(daemon: Daemon) -> None:
    audio = pcm("go-forward.flac")
    async with native_client(daemon.http) as client:
        await client.send('{"type":"hello"}')
        assert json.loads(await client.recv())["model"] == "starter-en"
        await send(client, audio[:40_000])
        done = await asyncio.to_thread(daemon.command, "activate", "twin-a")
        assert (done.returncode, done.stdout) == (0, "twin-a\n")
        assert "the running daemon serves it in place of starter-en" in done.stderr
        assert (await status(daemon))["model"]["model"] == "twin-a"
        await send(client, audio[40_000:])
        await client.send('{"type":"finish"}')
        messages = await read_messages(client)
    assert [message["text"] for message in messages if message["type"] == "final"] == ["go forward ten meters"]
    assert messages[-1]["type"] == "ended"
    assert daemon.command("rollback").stdout == "starter-en\n"
    assert (await status(daemon))["model"]["model"] == "starter-en"


async def test_a_model_whose_worker_ends_while_it_is_watched_is_taken_back(daemon: Daemon) -> None:
    command = asyncio.create_task(asyncio.to_thread(daemon.command, "activate", "twin-a", "--watch", "50s"))
    while (await status(daemon))["model"]["model"] != "twin-a":
        assert not command.done()
    # Again and again, for the first one may be gone before the watch has begun.
    while not command.done():
        if pid := (await status(daemon))["worker_pid"]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.wait([command], timeout=1)
    taken_back = await command
    assert taken_back.returncode == 6, taken_back.stderr
    assert "model 'twin-a' was taken back: its worker had to be replaced; starter-en serves again" in taken_back.stderr
    assert (await status(daemon))["model"]["model"] == "starter-en"


async def test_a_damaged_model_is_refused_with_the_models_exit_code(daemon: Daemon) -> None:
    before = (await status(daemon))["worker_pid"]
    refused = await asyncio.to_thread(daemon.command, "activate", "flipped-bytes")
    assert refused.returncode == 4
    assert "flipped-bytes" in refused.stderr
    assert (await asyncio.to_thread(daemon.command, "activate", "nan-weights")).returncode == 6
    assert (await status(daemon))["worker_pid"] == before


async def test_a_signal_takes_a_changed_model_and_a_broken_file_changes_nothing(daemon: Daemon) -> None:
    daemon.reload('model = "twin-b"\n[limits]\nmax_sessions = 3\nidle_timeout_s = 9\n')
    await asyncio.to_thread(daemon.wait_for, "needs a restart")
    assert (
        "twin-b is served in place of starter-en; applied: model, limits.max_sessions; "
        "needs a restart: limits.idle_timeout_s"
    ) in daemon.log
    document = await status(daemon)
    assert (document["model"]["model"], document["max_sessions"]) == ("twin-b", 3)
    daemon.reload("model = twin")
    await asyncio.to_thread(daemon.wait_for, "nothing has changed")
    after = await status(daemon)
    assert (after["worker_pid"], after["max_sessions"]) == (document["worker_pid"], 3)


async def test_sessions_ask_for_models_by_name_and_are_told_which_there_are(daemon: Daemon) -> None:
    async with httpx.AsyncClient(base_url=daemon.http, timeout=60) as client:
        names = [model["id"] for model in (await client.get("/v1/models")).json()["data"]]
    assert names[0] == "starter-en"
    assert {"twin-a", "twin-b"} < set(names)
    async with native_client(daemon.http) as asking:
        await asking.send('{"type":"hello","model":"twin-a"}')
        assert json.loads(await asking.recv())["model"] == "twin-a"
        await send(asking, pcm("five-five.flac"))
        await asking.send('{"type":"finish"}')
        assert (await read_messages(asking))[-2]["text"] == "five five"
    async with native_client(daemon.http) as wrong:
        await wrong.send('{"type":"hello","model":"../twin-a"}')
        (refusal,) = await read_messages(wrong)
    assert refusal["code"] == "model_not_found"
    assert "installed are: " in refusal["message"]
