"""Who may use which door."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from edge_asr.errors import ConfigurationError
from edge_asr.servers.access import TokenFile, http_access, is_loopback, peer_access

TOKEN = "a" * 32


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "::ffff:127.0.0.1"])
def test_these_hosts_are_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "board.local", ""])
def test_these_hosts_are_beyond_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_http_on_loopback_needs_no_token() -> None:
    assert http_access("127.0.0.1", "", ()).permits("")


def test_http_beyond_loopback_is_refused_without_a_token() -> None:
    with pytest.raises(ConfigurationError, match="--token-file FILE, or --insecure http"):
        http_access("0.0.0.0", "", ())


def test_a_token_is_needed_once_there_is_one(token_file: Path) -> None:
    access = http_access("0.0.0.0", str(token_file), ())
    assert access.permits(f"Bearer {TOKEN}")
    assert access.permits(f"bearer  {TOKEN}")
    assert not access.permits("")
    assert not access.permits(TOKEN)
    assert not access.permits("Bearer " + "b" * 32)
    assert not access.permits("Bearer ä")


def test_insecure_http_is_said_aloud(caplog: pytest.LogCaptureFixture) -> None:
    access = http_access("0.0.0.0", "", ("http",))
    assert access.permits("")
    assert "OPEN TO EVERYBODY" in caplog.text
    assert "OPEN TO EVERYBODY" in access.summary


def test_an_unknown_door_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no door 'htpp'; doors are: http, wyoming"):
        http_access("127.0.0.1", "", ("htpp",))


def test_a_changed_token_file_counts_at_once(token_file: Path) -> None:
    token = TokenFile(token_file)
    token_file.write_text("c" * 40)
    assert token.accepts("Bearer " + "c" * 40)
    assert not token.accepts(f"Bearer {TOKEN}")


def test_a_token_file_that_vanishes_leaves_the_token_in_force(
    token_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    token = TokenFile(token_file)
    token_file.unlink()
    assert token.accepts(f"Bearer {TOKEN}")
    assert "the token in use stays" in caplog.text


@pytest.mark.parametrize("content", ["", "short", "two words " * 5, "ü" * 40])
def test_a_file_without_a_usable_token_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "token"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match="openssl rand -hex 32"):
        TokenFile(path)


def test_a_missing_token_file_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nowhere: No such file or directory"):
        TokenFile(tmp_path / "nowhere")


def test_a_token_that_everybody_may_read_is_warned_about(token_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    token_file.chmod(0o644)
    with caplog.at_level(logging.WARNING):
        TokenFile(token_file)
    assert "chmod 600" in caplog.text


def test_a_replaced_token_file_of_the_same_size_counts(token_file: Path, tmp_path: Path) -> None:
    token = TokenFile(token_file)
    new = tmp_path / "new"
    new.write_text("d" * 32 + "\n")
    stat = token_file.stat()
    os.utime(new, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    new.replace(token_file)
    assert token.accepts("Bearer " + "d" * 32)


def test_wyoming_on_loopback_is_for_this_machine() -> None:
    access = peer_access("wyoming", "127.0.0.1", (), ())
    assert access.permits("127.0.0.1")
    assert access.permits("::1")
    assert not access.permits("192.168.1.9")


def test_wyoming_beyond_loopback_needs_networks() -> None:
    with pytest.raises(ConfigurationError, match=r"--allow 192\.168\.1\.0/24, or --insecure wyoming"):
        peer_access("wyoming", "0.0.0.0", (), ())


def test_wyoming_lets_in_the_networks_it_was_given() -> None:
    access = peer_access("wyoming", "::", ("192.168.1.0/24", "fd00::/8"), ())
    assert access.permits("192.168.1.9")
    assert access.permits("::ffff:192.168.1.9")
    assert access.permits("fd00::1")
    assert access.permits("fd12::1%eth0")
    assert access.permits("127.0.0.1")
    assert not access.permits("192.168.2.9")
    assert not access.permits("not an address")


def test_insecure_wyoming_is_open_and_said_aloud(caplog: pytest.LogCaptureFixture) -> None:
    access = peer_access("wyoming", "0.0.0.0", (), ("wyoming",))
    assert access.permits("8.8.8.8")
    assert "OPEN TO EVERYBODY" in caplog.text


@pytest.mark.parametrize("network", ["192.168.1.5/24", "home", "192.168.1.0/99"])
def test_a_network_that_is_none_is_refused(network: str) -> None:
    with pytest.raises(ConfigurationError, match=r"write a network as 192\.168\.1\.0/24"):
        peer_access("wyoming", "0.0.0.0", (network,), ())
