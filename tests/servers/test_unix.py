"""Binding unix sockets."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from edge_asr.errors import AddressInUse
from edge_asr.servers.unix import bind_unix


def test_a_socket_file_left_behind_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s"
    bind_unix(path).close()
    with bind_unix(path) as again:
        again.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))


def test_a_socket_that_answers_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with bind_unix(path) as first:
        first.listen()
        with pytest.raises(AddressInUse, match="another program already listens there"):
            bind_unix(path)


def test_a_plain_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_text("precious")
    with pytest.raises(AddressInUse, match="not a socket"):
        bind_unix(path)
    assert path.read_text() == "precious"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(AddressInUse, match="No such file or directory"):
        bind_unix(tmp_path / "none" / "s")
