"""The daemon: order of start, drain, signals. The recogniser is scripted; sockets and signals are real."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import httpx
import msgspec
import pytest

from edge_asr.administration import Administration
from edge_asr.daemon import Daemon, Surroundings
from edge_asr.errors import AddressInUse, ConfigurationError, ModelDamaged
from edge_asr.settings import Settings
from edge_asr.workers.base import WorkerStatus
from tests.servers.test_admin import ScriptedAdministrator
from tests.support.doors import LIMITS, LOCAL, native_client, read_messages
from tests.support.recognizer import ScriptedRecognizer
from tests.support.values import SERVING


class Manager:
    """A service manager's end of ``$NOTIFY_SOCKET``."""

    def __init__(self, path: Path) -> None:
        self.address = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.address)
        self._socket.setblocking(False)

    async def heard(self, message: str) -> None:
        """Wait for a message that begins so."""
        while not (await asyncio.get_running_loop().sock_recv(self._socket, 1000)).startswith(message.encode()):
            pass

    def close(self) -> None:
        self._socket.close()


@contextlib.asynccontextmanager
async def running(
    recognizer: ScriptedRecognizer,
    manager: Manager | None = None,
    *,
    watchdog_s: float = 0,
    admin: Path | None = None,
    needs_admin: bool = False,
    **server: Any,
) -> AsyncIterator[Daemon]:
    """A daemon whose doors are open; stopped at the end, with its failure raised."""
    settings = Settings(server=replace(LOCAL, **server), limits=LIMITS)
    surroundings = Surroundings(
        manager.address if manager else "", watchdog_s, admin_socket=admin, needs_admin_socket=needs_admin
    )
    administration = cast("Administration", ScriptedAdministrator()) if admin is not None else None
    daemon = Daemon(settings, recognizer, lambda: (b"", "text/plain"), surroundings, administration)
    task = asyncio.create_task(daemon.run())
    opened = asyncio.create_task(daemon.doors_opened.wait())
    await asyncio.wait({task, opened}, return_when=asyncio.FIRST_COMPLETED)
    opened.cancel()
    try:
        yield daemon
    finally:
        daemon.stop()
        await task


def http(daemon: Daemon) -> str:
    return next(door.address for door in daemon.doors if door.name == "http")


async def get(daemon: Daemon, path: str, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=http(daemon), headers=headers) as client:
        return await client.get(path)


@pytest.fixture
def manager(tmp_path: Path) -> Any:
    made = Manager(tmp_path / "notify")
    yield made
    made.close()


async def test_health_says_starting_until_the_model_is_loaded(manager: Manager) -> None:
    recognizer = ScriptedRecognizer(ready=None)
    recognizer.may_start.clear()
    async with running(recognizer, manager) as daemon:
        starting = await get(daemon, "/health/ready")
        assert (starting.status_code, starting.json()["state"]) == (503, "starting")
        await manager.heard("STATUS=loading the model")
        recognizer.may_start.set()
        await manager.heard("READY=1\nSTATUS=serving starter-en on cpu")
        assert (await get(daemon, "/health/ready")).status_code == 200


async def test_a_model_that_cannot_be_loaded_ends_the_daemon_with_the_models_error() -> None:
    recognizer = ScriptedRecognizer(ready=None)
    recognizer.start_error = ModelDamaged("starter-en", "tokens.txt is missing")
    with pytest.raises(ModelDamaged, match=r"tokens\.txt is missing"):
        async with running(recognizer):
            pass


async def test_a_taken_port_ends_the_daemon_before_anything_is_loaded() -> None:
    recognizer = ScriptedRecognizer(ready=None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(AddressInUse, match=f"127.0.0.1:{port}: .*choose another with --host and --port"):
            async with running(recognizer, port=port):
                pass
    assert recognizer.ready is None


async def test_a_taken_wyoming_port_leaves_no_door_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        uri = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(AddressInUse, match="choose another with --wyoming, or stop that program"):
            async with running(ScriptedRecognizer(), wyoming=uri):
                pass


async def test_a_taken_port_of_one_protocol_is_chosen_by_its_own_option() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(AddressInUse, match="choose another with --vosk-port, or stop that program"):
            async with running(ScriptedRecognizer(), vosk_port=port):
                pass


@pytest.mark.parametrize("uri", ["10300", "tcp://127.0.0.1", "tcp://127.0.0.1:x", "unix://", "http://x:1"])
async def test_a_wyoming_address_that_is_none_is_refused(uri: str) -> None:
    with pytest.raises(ConfigurationError, match="is no address; write tcp://"):
        async with running(ScriptedRecognizer(), wyoming=uri):
            pass


async def test_wyoming_can_be_off() -> None:
    async with running(ScriptedRecognizer(), wyoming="off") as daemon:
        assert [door.name for door in daemon.doors] == ["http"]


async def test_a_certificate_that_is_none_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no certificate")
    with pytest.raises(ConfigurationError, match=r"server\.tls_cert .*wrong\.pem"):
        async with running(ScriptedRecognizer(), tls_cert=str(wrong), tls_key=str(wrong)):
            pass


async def test_stopping_lets_a_running_session_finish(manager: Manager) -> None:
    recognizer = ScriptedRecognizer()
    async with running(recognizer, manager) as daemon, native_client(http(daemon)) as client:
        await manager.heard("READY=1")
        await client.send('{"type":"hello"}')
        await client.recv()
        daemon.stop()
        await manager.heard("STOPPING=1")
        refused = await get(daemon, "/health/ready")
        assert (refused.status_code, refused.json()["state"]) == (503, "draining")
        await client.send(bytes(3200))
        await client.send('{"type":"finish"}')
        assert [message["type"] for message in await read_messages(client)] == ["partial", "final", "ended"]


async def test_a_session_that_outlasts_the_drain_is_ended_with_a_reason(manager: Manager) -> None:
    async with running(ScriptedRecognizer(), manager, drain_s=0.1) as daemon, native_client(http(daemon)) as client:
        await manager.heard("READY=1")
        await client.send('{"type":"hello"}')
        await client.recv()
        daemon.stop()
        (failed,) = await read_messages(client)
        assert (failed["message"], failed["is_retryable"]) == ("the daemon is stopping", True)


async def test_asked_twice_it_does_not_wait_for_sessions(manager: Manager) -> None:
    async with running(ScriptedRecognizer(), manager, drain_s=600) as daemon, native_client(http(daemon)) as client:
        await manager.heard("READY=1")
        await client.send('{"type":"hello"}')
        await client.recv()
        daemon.stop()
        await manager.heard("STOPPING=1")
        daemon.stop()
        (failed,) = await read_messages(client)
        assert failed["message"] == "the daemon is stopping"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_the_daemon(manager: Manager, number: signal.Signals) -> None:
    async with running(ScriptedRecognizer(), manager):
        await manager.heard("READY=1")
        os.kill(os.getpid(), number)
        await manager.heard("STOPPING=1")


async def test_a_signal_while_the_model_loads_stops_the_daemon() -> None:
    recognizer = ScriptedRecognizer(ready=None)
    recognizer.may_start.clear()
    async with running(recognizer):
        os.kill(os.getpid(), signal.SIGTERM)


async def test_a_hangup_reads_the_token_again(tmp_path: Path, manager: Manager) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("a" * 32)
    token_file.chmod(0o600)
    async with running(ScriptedRecognizer(), manager, token_file=str(token_file)) as daemon:
        await manager.heard("READY=1")
        token_file.write_text("b" * 32)
        os.kill(os.getpid(), signal.SIGHUP)
        assert (await get(daemon, "/status", Authorization=f"Bearer {'b' * 32}")).status_code == 200


async def test_a_hangup_with_a_broken_token_file_keeps_the_daemon_running(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("a" * 32)
    token_file.chmod(0o600)
    async with running(ScriptedRecognizer(), token_file=str(token_file)) as daemon:
        token_file.write_text("")
        daemon.reload()
        assert "the token in use stays" in caplog.text
        assert (await get(daemon, "/status", Authorization=f"Bearer {'a' * 32}")).status_code == 200


async def test_the_watchdog_is_fed(manager: Manager) -> None:
    async with running(ScriptedRecognizer(), manager, watchdog_s=0.03):
        await manager.heard("WATCHDOG=1")
        await manager.heard("WATCHDOG=1")


async def test_status_names_the_doors_and_who_may_use_them() -> None:
    async with running(ScriptedRecognizer()) as daemon:
        document = json.loads((await get(daemon, "/status")).content)
    assert [(door["door"], door["access"]) for door in document["doors"]] == [
        ("http", "this machine only"),
        ("wyoming", "this machine only"),
    ]
    assert document["memory_bytes"]["front"] > 1 << 20


async def test_the_admin_socket_is_a_door_like_the_others_and_goes_with_the_daemon(tmp_path: Path) -> None:
    path = tmp_path / "admin.sock"
    async with running(ScriptedRecognizer(), admin=path) as daemon:
        assert [door.address for door in daemon.doors if door.name == "admin"] == [f"unix://{path}"]
        assert path.is_socket()
    assert not path.exists()


async def test_a_second_daemon_goes_without_the_admin_socket_unless_it_was_told_to_have_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "admin.sock"
    async with running(ScriptedRecognizer(), admin=path):
        async with running(ScriptedRecognizer(), admin=path) as second:
            assert "admin" not in [door.name for door in second.doors]
            assert "no admin socket: cannot listen on unix://" in caplog.text
        with pytest.raises(AddressInUse, match=r"admin\.sock: .* choose another with server\.admin_socket"):
            async with running(ScriptedRecognizer(), admin=path, needs_admin=True):
                pass
        assert path.is_socket()


async def test_an_idle_daemon_writes_nothing_however_often_it_is_probed(
    manager: Manager, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(ScriptedRecognizer(), manager) as daemon:
        await manager.heard("READY=1")
        caplog.set_level(logging.INFO)
        caplog.clear()
        for path in ("/health/live", "/health/ready", "/metrics", "/status") * 25:
            assert (await get(daemon, path)).status_code == 200
        written = [record for record in caplog.records if not record.name.startswith("http")]  # the client's own
    assert written == []


async def test_the_watchdog_is_not_fed_while_a_worker_stands_still(manager: Manager) -> None:
    recognizer = ScriptedRecognizer()
    stuck = WorkerStatus("0", "restarting", "", 0, 1, 1, None)
    recognizer.status = lambda: msgspec.structs.replace(SERVING, workers=(stuck,))  # type: ignore[method-assign]
    async with running(recognizer, manager, watchdog_s=0.03) as daemon:
        await manager.heard("WATCHDOG=1")
        daemon._sign_of_life._watch._loading_patience_s = 0.0
        await manager.heard("STATUS=stuck: worker 0 is restarting")
