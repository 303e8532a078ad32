"""Finals at a real broker: Debian's mosquitto, where it is installed."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from edge_asr.errors import ConfigurationError
from edge_asr.settings import MqttSettings
from edge_asr.sinks.base import Waiting
from edge_asr.sinks.mqtt import MqttSink, broker_of
from tests.sinks.conftest import Counted, spoken

MOSQUITTO = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin")
needs_broker = pytest.mark.skipif(MOSQUITTO is None, reason="needs Debian's mosquitto")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@asynccontextmanager
async def broker(port: int, folder: Path, *lines: str) -> AsyncIterator[None]:
    """Mosquitto on this port; returns when it listens."""
    assert MOSQUITTO is not None
    configuration = folder / "mosquitto.conf"
    configuration.write_text("\n".join((f"listener {port} 127.0.0.1", *(lines or ("allow_anonymous true",)))))
    process = await asyncio.create_subprocess_exec(
        MOSQUITTO, "-v", "-c", str(configuration), stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        log = b""
        while b"running" not in log:
            line = await process.stderr.readline()
            assert line, log.decode()
            log += line
        rest = asyncio.create_task(process.stderr.read())
        yield
        process.terminate()
        await rest
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def publishing(port: int, counted: Counted, **settings: Any) -> AsyncIterator[MqttSink]:
    sink = MqttSink(MqttSettings(f"mqtt://127.0.0.1:{port}", topic="kitchen", **settings), Waiting("mqtt", 8, counted))
    running = asyncio.create_task(sink.run())
    try:
        yield sink
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def messages(port: int, count: int) -> list[tuple[str, str]]:
    async with aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe("kitchen/#", qos=1)
        found: list[tuple[str, str]] = []
        async for message in client.messages:
            assert isinstance(message.payload, bytes)
            found.append((str(message.topic), message.payload.decode()))
            if len(found) == count:
                break
        return found


@needs_broker
async def test_a_final_is_published_as_json_and_the_daemon_is_online(tmp_path: Path, counted: Counted) -> None:
    port = free_port()
    async with broker(port, tmp_path), aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe("kitchen/#", qos=1)
        async with publishing(port, counted) as sink:
            sink.offer(spoken())
            found = [await anext(client.messages) for _ in range(2)]
            await sink.drained()
        last = await anext(client.messages)
    assert [str(message.topic) for message in found] == ["kitchen/status", "kitchen/final"]
    assert found[0].payload == b"online"
    assert json.loads(found[1].payload)["text"] == "go forward"
    assert (str(last.topic), last.payload) == ("kitchen/status", b"offline")
    assert counted == {("mqtt", "delivered"): 1}


@needs_broker
async def test_what_was_said_before_the_broker_came_up_is_published_then(
    tmp_path: Path, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edge_asr.sinks.mqtt.FIRST_PATIENCE_S", 0.05)
    monkeypatch.setattr("edge_asr.sinks.mqtt.LONGEST_PATIENCE_S", 0.05)
    port = free_port()
    async with publishing(port, counted) as sink:
        sink.offer(spoken("early"))
        async with broker(port, tmp_path):
            await sink.drained()
            assert await messages(port, 1) == [("kitchen/status", "online")]  # retained
    assert counted == {("mqtt", "delivered"): 1}


@needs_broker
async def test_the_user_and_the_password_are_those_of_the_files(tmp_path: Path, counted: Counted) -> None:
    port, secret, accounts = free_port(), tmp_path / "secret", tmp_path / "accounts"
    secret.write_text("open sesame\n")
    accounts.write_text("ali:open sesame\n")
    program = shutil.which("mosquitto_passwd")
    if program is None:
        pytest.skip("needs mosquitto_passwd")
    process = await asyncio.create_subprocess_exec(program, "-U", str(accounts))
    await process.wait()
    accounts.chmod(0o644)
    async with (
        broker(port, tmp_path, "allow_anonymous false", f"password_file {accounts}", "user root"),
        publishing(port, counted, username="ali", password_file=str(secret)) as sink,
    ):
        sink.offer(spoken())
        await sink.drained()
    assert counted == {("mqtt", "delivered"): 1}


@pytest.mark.parametrize("url", ["localhost", "http://broker", "mqtt://", "mqtt://x:y"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="is no broker; write mqtt://HOST:1883"):
        broker_of(MqttSettings(url))


def test_ports_are_the_usual_ones_unless_said() -> None:
    assert (broker_of(MqttSettings("mqtt://b")).port, broker_of(MqttSettings("mqtts://b")).port) == (1883, 8883)
    assert broker_of(MqttSettings("mqtt://ali:x@b:99")) == broker_of(MqttSettings("mqtt://ali:x@b:99"))


def test_a_password_does_not_show() -> None:
    assert "sesame" not in repr(broker_of(MqttSettings("mqtt://ali:sesame@b")))


def test_a_password_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        broker_of(MqttSettings("mqtt://b", password_file=str(tmp_path / "none")))


@pytest.mark.parametrize(
    "url", ["mqtt://ali:sesame@b:x", "ali:sesame@b:1883", "http://ali:ses@me@b", "mqtt:/ali:sesame@"]
)
def test_a_refused_address_does_not_show_its_password(url: str) -> None:
    with pytest.raises(ConfigurationError, match="is no broker") as refusal:
        broker_of(MqttSettings(url))
    assert "ses" not in str(refusal.value)


def test_a_password_in_the_address_may_hold_every_character() -> None:
    broker = broker_of(MqttSettings("mqtt://a%20li:open%40%2Fsesame@b"))
    assert (broker.username, broker.password) == ("a li", "open@/sesame")


@needs_broker
async def test_a_final_that_the_broker_hangs_up_on_does_not_hold_up_the_others(
    tmp_path: Path, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edge_asr.sinks.mqtt.FIRST_PATIENCE_S", 0.05)
    port = free_port()
    async with (
        broker(port, tmp_path, "allow_anonymous true", "max_packet_size 2000"),
        publishing(port, counted) as sink,
    ):
        sink.offer(spoken("go " * 2000))
        sink.offer(spoken("stop"))
        await sink.drained()
    assert counted == {("mqtt", "failed"): 1, ("mqtt", "delivered"): 1}
