"""Where the admin socket is, and what is said to a daemon that is not there or does not let us in."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from edge_asr.cli import admin_socket
from edge_asr.cli.admin_socket import AdminClient, admin_socket_to_open, running_daemon
from edge_asr.errors import MachineError


@pytest.fixture(autouse=True)
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In place of ``/run/edge-asr``; not there yet."""
    monkeypatch.setattr(admin_socket, "SYSTEM_DIRECTORY", tmp_path / "run-edge-asr")
    return tmp_path / "run-edge-asr"


def test_the_configured_path_is_taken_as_it_is_and_must_work() -> None:
    assert admin_socket_to_open("/srv/admin.sock", {}) == (Path("/srv/admin.sock"), True)


def test_off_is_off(system: Path) -> None:
    system.mkdir()
    assert admin_socket_to_open("off", {}) == (None, False)


def test_the_service_managers_directory_comes_first(tmp_path: Path, system: Path) -> None:
    system.mkdir()
    environment = {"RUNTIME_DIRECTORY": f"{tmp_path}:/other", "XDG_RUNTIME_DIR": str(tmp_path)}
    assert admin_socket_to_open("", environment) == (tmp_path / "admin.sock", False)


def test_the_systems_directory_is_used_but_not_made(system: Path) -> None:
    assert admin_socket_to_open("", {}) == (None, False)
    system.mkdir()
    assert admin_socket_to_open("", {}) == (system / "admin.sock", False)


def test_a_user_gets_a_private_directory(tmp_path: Path) -> None:
    path, is_named = admin_socket_to_open("", {"XDG_RUNTIME_DIR": str(tmp_path)})
    assert (path, is_named) == (tmp_path / "edge-asr" / "admin.sock", False)
    assert (tmp_path / "edge-asr").stat().st_mode & 0o777 == 0o700


def test_a_socket_that_nobody_answers_is_no_daemon(tmp_path: Path, system: Path) -> None:
    assert running_daemon("", {}) is None
    system.mkdir()
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(system / "admin.sock"))
    assert running_daemon("", {}) is None


def test_a_socket_that_answers_is_one(system: Path) -> None:
    system.mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(system / "admin.sock"))
        listening.listen()
        assert running_daemon("", {}) == AdminClient(system / "admin.sock")
        assert running_daemon("off", {}) is None


def test_a_daemon_that_hangs_up_is_named_with_its_socket(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=r"the daemon at .*admin\.sock did not answer"):
        AdminClient(tmp_path / "admin.sock").rollback()
