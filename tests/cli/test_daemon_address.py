"""How a daemon's URL is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.cli.daemon_address import parse_address
from edge_asr.errors import ConfigurationError

WEB = ("http", "https", "ws", "wss")


@pytest.mark.parametrize(
    ("url", "websocket"),
    [
        ("http://127.0.0.1:8765", "ws://127.0.0.1:8765/v1/stream"),
        ("http://board/", "ws://board/v1/stream"),
        ("https://board:1", "wss://board:1/v1/stream"),
        ("ws://[::1]:8765/other", "ws://[::1]:8765/other"),
    ],
)
def test_the_websocket_of_a_daemon_is_found_from_any_url(url: str, websocket: str) -> None:
    assert parse_address(url, WEB).websocket_url("/v1/stream") == websocket


def test_a_token_becomes_a_header(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")
    address = parse_address("http://x", WEB, str(tmp_path / "token"))
    assert address.headers == {"Authorization": "Bearer secret"}


def test_without_a_token_there_is_no_header() -> None:
    assert parse_address("http://x", WEB).headers == {}


def test_a_unix_socket_is_a_path() -> None:
    assert parse_address("unix:///run/w.sock", ("unix",)).path == "/run/w.sock"


@pytest.mark.parametrize("url", ["", "x", "ftp://x", "http://", "http://x:999999", "http://x:port"])
def test_what_is_no_address_is_refused_with_those_that_are(url: str) -> None:
    with pytest.raises(ConfigurationError, match="is no address of a daemon; it begins with http://, https://"):
        parse_address(url, WEB)


def test_a_token_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nowhere cannot be read"):
        parse_address("http://x", WEB, str(tmp_path / "nowhere"))
