"""Who may use which door.

On loopback every door is open. Beyond it, HTTP and websocket need a bearer token; Wyoming and the ports of Vosk's and
sherpa-onnx's protocols, which have no credentials, are open to the networks of ``server.allow``. ``server.insecure``
lifts the rule for one door, and this is said aloud.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edge_asr.errors import ConfigurationError

logger = logging.getLogger(__name__)

DOORS = ("http", "wyoming", "vosk", "sherpa")
"""Names that ``server.insecure`` accepts."""

MIN_TOKEN_CHARS = 16

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class TokenFile:
    """The bearer token, read again whenever its file changes."""

    def __init__(self, path: Path) -> None:
        """Read the token.

        Raises:
            ConfigurationError: The file cannot be read, or holds no usable token.
        """
        self._path = path
        self._seen: tuple[int, ...] | None = None
        self._token = b""
        self.reload()
        if path.stat().st_mode & stat.S_IROTH:
            logger.warning("token file %s can be read by every user of this machine; chmod 600 it", path)

    def reload(self) -> None:
        """Read the file now.

        Raises:
            ConfigurationError: The file cannot be read, or holds no usable token.
        """
        try:
            seen = _fingerprint(self._path)
            token = self._path.read_bytes().strip()
        except OSError as error:
            raise ConfigurationError(f"server.token_file {self._path}: {error.strerror}") from error
        if len(token) < MIN_TOKEN_CHARS or any(byte <= 32 or byte >= 127 for byte in token):
            raise ConfigurationError(
                f"server.token_file {self._path}: a token is one line of at least {MIN_TOKEN_CHARS} visible ASCII "
                "characters; make one with: openssl rand -hex 32"
            )
        self._seen, self._token = seen, token

    def accepts(self, authorization: str) -> bool:
        """Whether an ``Authorization`` header carries the token; takes the same time for every wrong one."""
        self._follow_changes()
        scheme, _, token = authorization.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self._token)

    def _follow_changes(self) -> None:
        try:
            if _fingerprint(self._path) != self._seen:
                self.reload()
                logger.info("token file %s was read again", self._path)
        except (OSError, ConfigurationError) as error:
            logger.warning("the token in use stays: %s", error)


@dataclass(frozen=True, slots=True)
class HttpAccess:
    """The rule of the HTTP door: a token, or none needed."""

    token: TokenFile | None
    summary: str
    """For log and status."""
    is_loopback_only: bool = False
    """Nothing but the listening address keeps others out."""

    def permits(self, authorization: str) -> bool:
        """Whether a request with this ``Authorization`` header may pass."""
        return self.token is None or self.token.accepts(authorization)


@dataclass(frozen=True, slots=True)
class PeerAccess:
    """The rule of a door without credentials: loopback and these networks, or everybody."""

    networks: tuple[Network, ...]
    is_open: bool
    summary: str
    """For log and status."""

    def permits(self, peer: str) -> bool:
        """Whether a client at this address may pass; one of a unix socket has no address and may."""
        if self.is_open or not peer:
            return True
        address = _address(peer)
        if address is None:
            return False
        return address.is_loopback or any(address in network for network in self.networks)


def http_access(host: str, token_file: str, insecure: Sequence[str]) -> HttpAccess:
    """The rule for HTTP and websocket.

    Raises:
        ConfigurationError: The door is open beyond loopback without a token, or the token cannot be read.
    """
    _check_doors(insecure)
    if "http" in insecure:
        logger.warning("HTTP and websocket are OPEN TO EVERYBODY who reaches %s (insecure http)", host)
        return HttpAccess(None, "OPEN TO EVERYBODY (insecure http)")
    if token_file:
        return HttpAccess(TokenFile(Path(token_file)), "bearer token")
    if not is_loopback(host):
        raise ConfigurationError(
            f"server.host = {host!r} is beyond loopback and there is no token: give --token-file FILE, "
            "or --insecure http to let everybody in"
        )
    return HttpAccess(None, "this machine only", is_loopback_only=True)


def unix_http_access(token_file: str) -> HttpAccess:
    """The rule for HTTP over a unix socket: its file's permissions, and the token where one is set.

    Raises:
        ConfigurationError: The token cannot be read.
    """
    if token_file:
        return HttpAccess(TokenFile(Path(token_file)), "bearer token")
    return HttpAccess(None, UNIX_ACCESS.summary)


def peer_access(door: str, host: str, allow: Sequence[str], insecure: Sequence[str]) -> PeerAccess:
    """The rule for a door whose protocol has no credentials.

    Args:
        door: Its name, one of :data:`DOORS`.
        host: Where it listens.
        allow: Networks whose clients may use it.
        insecure: Doors that are open to everybody.

    Raises:
        ConfigurationError: The door is open beyond loopback to nobody in particular, or a network cannot be read.
    """
    _check_doors(insecure)
    networks = tuple(map(_network, allow))
    if door in insecure:
        logger.warning("%s is OPEN TO EVERYBODY who reaches %s (insecure %s)", door.capitalize(), host, door)
        return PeerAccess(networks, is_open=True, summary=f"OPEN TO EVERYBODY (insecure {door})")
    if is_loopback(host):
        return PeerAccess((), is_open=False, summary="this machine only")
    if not networks:
        raise ConfigurationError(
            f"the {door} door listens on {host!r}, beyond loopback, and its protocol has no credentials: name the "
            f"networks that may use it with --allow 192.168.1.0/24, or --insecure {door} to let everybody in"
        )
    return PeerAccess(networks, is_open=False, summary=f"networks {', '.join(map(str, networks))}")


UNIX_ACCESS = PeerAccess((), is_open=True, summary="users of this machine who may write to the socket")
"""A unix socket is guarded by its file's permissions."""


def is_loopback(host: str) -> bool:
    """Whether a host to listen on can be reached from this machine only."""
    if host.lower() in ("localhost", "ip6-localhost"):
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise ConfigurationError(f"server.allow: {error}; write a network as 192.168.1.0/24") from error


def _check_doors(insecure: Sequence[str]) -> None:
    for door in insecure:
        if door not in DOORS:
            raise ConfigurationError(f"server.insecure: no door {door!r}; doors are: {', '.join(DOORS)}")


def _fingerprint(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size
