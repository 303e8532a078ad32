"""``edge-asr serve``: what it takes from its options and its environment. The daemon itself: ``test_daemon*.py``."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import edge_asr.daemon
from edge_asr.daemon import Surroundings
from edge_asr.settings import Settings
from edge_asr.store.store import InstalledModel, ModelStore
from tests.cli.conftest import Run
from tests.support.daemon import DaemonProcess


class Served:
    """What the daemon was asked to do."""

    settings: Settings
    directory: Path
    surroundings: Surroundings


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A daemon that only notes its arguments."""
    noted = Served()
    level = logging.getLogger("edge_asr").level

    def note(
        settings: Settings, _: ModelStore, model: InstalledModel, surroundings: Surroundings, *_read: object
    ) -> None:
        noted.settings, noted.directory, noted.surroundings = settings, model.directory, surroundings

    monkeypatch.setattr(edge_asr.daemon, "serve", note)
    for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "CACHE_DIRECTORY", "RUNTIME_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    yield noted
    logging.getLogger("edge_asr").setLevel(level)


def test_without_options_the_bundled_model_is_served_on_loopback(run: Run, served: Served) -> None:
    assert run("serve").status == 0
    assert served.directory.name == "starter-en"
    assert (served.settings.server.host, served.settings.server.port) == ("127.0.0.1", 8765)
    traces = Path.home() / ".local" / "state" / "edge-asr" / "traces"
    assert served.surroundings == Surroundings("", 0.0, None, trace_directory=traces)


def test_every_option_reaches_its_setting(run: Run, served: Served) -> None:
    words = ["--host", "0.0.0.0", "--port", "1", "--wyoming", "off", "--allow", "10.0.0.0/8", "--allow", "fd00::/8"]
    words += ["--token-file", "t", "--tls-cert", "c", "--tls-key", "k", "--insecure", "wyoming"]
    words += ["--provider", "xnnpack"]
    run("serve", *words)
    server = served.settings.server
    assert (server.host, server.port, server.wyoming) == ("0.0.0.0", 1, "off")
    assert (server.allow, server.insecure) == (("10.0.0.0/8", "fd00::/8"), ("wyoming",))
    assert (server.token_file, server.tls_cert, server.tls_key) == ("t", "c", "k")
    assert served.settings.engine.provider == "xnnpack"


def test_what_the_model_cannot_hear_is_said(run: Run, served: Served) -> None:
    assert "note: starter-en hears 961 command words only" in run("serve").err


def test_systemds_environment_is_handed_on(run: Run, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", "@here")
    monkeypatch.setenv("WATCHDOG_USEC", "30000000")
    monkeypatch.setenv("CACHE_DIRECTORY", "/var/cache/edge-asr:/other")
    run("serve")
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/edge-asr")
    run("serve", "--trace", "next")
    assert served.surroundings == Surroundings(
        "@here",
        30.0,
        Path("/var/cache/edge-asr"),
        trace_directory=Path("/var/lib/edge-asr/traces"),
        traced_session="next",
    )


def test_sockets_of_systemd_are_handed_on(run: Run, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PID", str(os.getpid())), ("FDS", "2"), ("FDNAMES", "wyoming:http")):
        monkeypatch.setenv(f"LISTEN_{name}", value)
    run("serve")
    assert served.surroundings.inherited == {"wyoming": (3,), "http": (4,)}


def test_a_watchdog_for_another_process_is_not_ours(run: Run, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "30000000")
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid() + 1))
    run("serve")
    assert served.surroundings.watchdog_s == 0.0


@pytest.mark.parametrize(
    ("words", "level"),
    [((), logging.INFO), (("-v",), logging.INFO), (("-vv",), logging.DEBUG)],
    ids=["quiet", "v", "vv"],
)
def test_the_log_is_at_the_configured_level_or_more(
    run: Run, served: Served, words: tuple[str, ...], level: int
) -> None:
    run("serve", *words)
    assert logging.getLogger("edge_asr").level == level


def test_a_quiet_log_can_be_configured(run: Run, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGE_ASR_LOG_LEVEL", "error")
    run("serve")
    assert logging.getLogger("edge_asr").level == logging.ERROR


@pytest.mark.model
def test_systemd_hears_that_the_daemon_is_ready(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(60)
        with DaemonProcess(NOTIFY_SOCKET=str(tmp_path / "notify")) as daemon:
            assert manager.recv(1000).startswith(b"STATUS=loading the model\n")
            assert manager.recv(1000).startswith(b"READY=1\nSTATUS=serving starter-en on cpu, 0 of 16 sessions")
            assert daemon.stop() == 0
        said = iter(lambda: manager.recv(1000), b"")
        assert next(message for message in said if message.startswith(b"STOPPING=1"))
