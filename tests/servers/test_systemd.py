"""Messages to the service manager."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from edge_asr.servers.systemd import Notifier


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        listener.settimeout(5)
        yield listener


def test_the_manager_hears_each_state(manager: socket.socket) -> None:
    notifier = Notifier(manager.getsockname())
    notifier.starting("loading", 90)
    notifier.ready("serving starter-en")
    notifier.status("3 of 16 sessions")
    notifier.watchdog()
    notifier.stopping("stopping", 25)
    assert [manager.recv(100) for _ in range(5)] == [
        b"STATUS=loading\nEXTEND_TIMEOUT_USEC=90000000",
        b"READY=1\nSTATUS=serving starter-en",
        b"STATUS=3 of 16 sessions",
        b"WATCHDOG=1",
        b"STOPPING=1\nSTATUS=stopping\nEXTEND_TIMEOUT_USEC=25000000",
    ]


def test_an_abstract_socket_is_written_with_an_at_sign() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind("\0edge-asr-test-notify")
        listener.settimeout(5)
        Notifier("@edge-asr-test-notify").watchdog()
        assert listener.recv(100) == b"WATCHDOG=1"


def test_no_manager_is_no_error(tmp_path: Path) -> None:
    Notifier("").ready("x")
    Notifier(str(tmp_path / "gone")).ready("x")
