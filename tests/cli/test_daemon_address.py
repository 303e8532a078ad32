"""How a daemon's URL is read, which word is it, and where the daemon of this machine is."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.cli.daemon_address import local_daemon, parse_address, split_address
from edge_asr.errors import ConfigurationError
from edge_asr.settings import ServerSettings

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


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        (ServerSettings(), "http://127.0.0.1:8765"),
        (ServerSettings(host="0.0.0.0", port=80), "http://127.0.0.1:80"),
        (ServerSettings(host="::"), "http://[::1]:8765"),
        (ServerSettings(host="board.lan", tls_cert="c", tls_key="k"), "https://board.lan:8765"),
    ],
)
def test_the_http_door_is_found_where_it_can_be_reached(settings: ServerSettings, url: str) -> None:
    assert local_daemon(settings) == (url, None)


@pytest.mark.parametrize(
    ("setting", "url"),
    [
        ("tcp://0.0.0.0:10300", "tcp://127.0.0.1:10300"),
        ("tcp://[::]:10300", "tcp://[::1]:10300"),
        ("unix:///run/edge-asr/wyoming.sock", "unix:///run/edge-asr/wyoming.sock"),
    ],
)
def test_the_wyoming_door_is_found_where_it_can_be_reached(setting: str, url: str) -> None:
    assert local_daemon(ServerSettings(wyoming=setting), is_wyoming=True) == (url, None)


def test_a_token_that_is_named_comes_before_the_configured_one() -> None:
    settings = ServerSettings(token_file="/etc/token")
    assert [local_daemon(settings)[1], local_daemon(settings, "mine")[1]] == ["/etc/token", "mine"]


@pytest.mark.parametrize(
    ("settings", "is_wyoming", "sentence"),
    [
        (ServerSettings(port=0), False, "server.port is 0"),
        (ServerSettings(wyoming="off"), True, "server.wyoming is off"),
    ],
)
def test_a_door_that_cannot_be_found_is_said(settings: ServerSettings, is_wyoming: bool, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        local_daemon(settings, is_wyoming=is_wyoming)


@pytest.mark.parametrize("word", ["http://board", "ws://127.0.0.1:1/x", "board:8765", "[::1]:8765", "127.0.0.1:8765"])
def test_the_first_word_may_be_an_address(word: str) -> None:
    assert split_address((word, "a.wav")) == (word, ("a.wav",))


@pytest.mark.parametrize("word", ["-", "a.wav", "calls/b:c.wav", "/x:1/y.flac"])
def test_the_first_word_may_be_a_recording(word: str) -> None:
    assert split_address((word, "a.wav")) == (None, (word, "a.wav"))


def test_a_file_that_is_called_like_an_address_is_a_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "call:12").touch()
    assert split_address(("call:12",)) == (None, ("call:12",))
