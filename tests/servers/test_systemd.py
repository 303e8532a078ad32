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
    notifier.status("loading")
    notifier.ready("serving starter-en")
    notifier.watchdog()
    notifier.stopping()
    assert [manager.recv(100) for _ in range(4)] == [
        b"STATUS=loading",
        b"READY=1\nSTATUS=serving starter-en",
        b"WATCHDOG=1",
        b"STOPPING=1\nSTATUS=stopping",
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
