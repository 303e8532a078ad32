"""How ``client`` and ``status`` find a daemon: its URL, the token it wants, and what it means that nobody answers."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from edge_asr.errors import ConfigurationError, MachineError
from edge_asr.settings import ServerSettings

_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104  looked for, not listened at
"""Hosts that a daemon listens at and nobody connects to, and where it is found instead."""

_HOST_AND_PORT = re.compile(r"[\w.-]+:\d+|\[[\da-fA-F:.]+\]:\d+")


@dataclass(frozen=True, slots=True)
class DaemonAddress:
    """Where a daemon listens, and the credentials it wants."""

    url: str
    scheme: str
    host: str
    port: int | None
    path: str
    token: str = ""

    @property
    def is_tls(self) -> bool:
        """Whether the connection is encrypted."""
        return self.scheme in ("https", "wss")

    @property
    def headers(self) -> Mapping[str, str]:
        """Credentials as HTTP headers."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def tls_context(self) -> ssl.SSLContext | None:
        """Certificates are checked against the system's authorities and ``$SSL_CERT_FILE``."""
        return ssl.create_default_context() if self.is_tls else None

    def with_path(self, default: str) -> str:
        """The URL's own path, or this one where it has none."""
        return self.path if self.path.strip("/") else default

    def websocket_url(self, default_path: str) -> str:
        """``ws://`` or ``wss://``, whatever it was written as."""
        port = f":{self.port}" if self.port is not None else ""
        return f"{'wss' if self.is_tls else 'ws'}://{_in_url(self.host)}{port}{self.with_path(default_path)}"

    def unreachable(self, error: Exception) -> MachineError:
        """Nobody answers there."""
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        if isinstance(error, ConnectionError) and error.errno:
            reason = os.strerror(error.errno)  # asyncio says the address again in its place
        return MachineError(f"no daemon answers at {self.url}: {reason}; start one with `edge-asr serve`")

    def forbidden(self) -> ConfigurationError:
        """The token is missing or wrong."""
        said = "does not accept this token" if self.token else "wants a token"
        return ConfigurationError(f"the daemon at {self.url} {said}; name the file that holds it with --token-file")


def parse_address(url: str, schemes: tuple[str, ...], token_file: str | None = None) -> DaemonAddress:
    """Read a URL.

    Args:
        url: Such as ``http://127.0.0.1:8765``.
        schemes: What is accepted.
        token_file: File with the bearer token.

    Raises:
        ConfigurationError: The URL is none, of another scheme, or the token cannot be read.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _wrong(url, schemes) from None
    if parts.scheme not in schemes or not _has_place(parts):
        raise _wrong(url, schemes)
    return DaemonAddress(url, parts.scheme, parts.hostname or "", port, parts.path, _token(token_file))


def split_address(words: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """Which of ``[URL] FILE...`` is what.

    Returns:
        The URL, ``None`` where the first word is none; and the files.

    Raises:
        ConfigurationError: There are no files.
    """
    url = words[0] if words and _is_address(words[0]) else None
    files = tuple(words if url is None else words[1:])
    if not files:
        behind = f" behind {url}" if url else ""
        raise ConfigurationError(f"no recordings: name files{behind}, or - for standard input")
    return url, files


def local_daemon(
    server: ServerSettings, token_file: str | None = None, *, is_wyoming: bool = False
) -> tuple[str, str | None]:
    """The daemon of this machine, as its configuration says.

    Args:
        server: The configuration.
        token_file: What the user says; else the daemon's own file.
        is_wyoming: Whether the Wyoming door is wanted, and not that of HTTP.

    Returns:
        Its URL, and the file with its token if it has one.

    Raises:
        ConfigurationError: It has no such door, or takes any port.
    """
    token_file = token_file or server.token_file or None
    if is_wyoming:
        return _local_wyoming(server), token_file
    if not server.port:
        raise ConfigurationError(
            "server.port is 0, so that the daemon takes any port; name its URL, which it has logged"
        )
    return f"{'https' if server.tls_cert else 'http'}://{_reachable(server.host)}:{server.port}", token_file


def _local_wyoming(server: ServerSettings) -> str:
    if server.wyoming == "off":
        raise ConfigurationError(
            "server.wyoming is off, so that the daemon of this machine has no such door; name a URL"
        )
    parts = urlsplit(server.wyoming)
    return server.wyoming if parts.scheme == "unix" else f"tcp://{_reachable(parts.hostname or '')}:{parts.port}"


def _reachable(host: str) -> str:
    return _in_url(_EVERY_ADDRESS.get(host, host))


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_address(word: str) -> bool:
    """Whether it was meant as one; with the scheme forgotten it is told from the name of a file by its port."""
    return "://" in word or (bool(_HOST_AND_PORT.fullmatch(word)) and not Path(word).exists())


def _has_place(parts: SplitResult) -> bool:
    return bool(parts.path) if parts.scheme == "unix" else bool(parts.hostname)


def _wrong(url: str, schemes: tuple[str, ...]) -> ConfigurationError:
    return ConfigurationError(
        f"{url!r} is no address of a daemon; it begins with {', '.join(f'{s}://' for s in schemes)}"
    )


def _token(token_file: str | None) -> str:
    if token_file is None:
        return ""
    try:
        return Path(token_file).read_text(encoding="ascii").strip()
    except OSError as error:
        raise ConfigurationError(f"token file {token_file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"token file {token_file} holds no token: it is not ASCII") from error
