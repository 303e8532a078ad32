"""The admin socket of a daemon on this machine: where it is, and what is said through it."""

from __future__ import annotations

import http.client
import json
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edge_asr.errors import EdgeAsrError, MachineError, error_of

SYSTEM_DIRECTORY = Path("/run/edge-asr")
"""Made by the system service (``RuntimeDirectory=edge-asr``)."""

SOCKET = "admin.sock"
OFF = "off"

ANSWER_WITHIN_S = 600.0
"""Loading a model and trying it takes its time on a small board."""


def admin_socket_to_open(setting: str, environment: Mapping[str, str]) -> tuple[Path | None, bool]:
    """Where a daemon opens its admin socket.

    Args:
        setting: ``server.admin_socket``.
        environment: Like ``os.environ``.

    Returns:
        The path, or ``None`` for no socket; and whether the configuration names it.
    """
    if setting == OFF:
        return None, False
    if setting:
        return Path(setting), True
    for directory, is_shared in _directories(environment):
        if is_shared and os.access(directory.parent, os.W_OK | os.X_OK):
            directory.mkdir(mode=0o700, exist_ok=True)
        if directory.is_dir() and os.access(directory, os.W_OK | os.X_OK):
            return directory / SOCKET, False
    return None, False


def _directories(environment: Mapping[str, str]) -> Iterator[tuple[Path, bool]]:
    """Candidates, and whether it is ours to make them."""
    if runtime := environment.get("RUNTIME_DIRECTORY"):
        yield Path(runtime.partition(":")[0]), False
    yield SYSTEM_DIRECTORY, False
    if user := environment.get("XDG_RUNTIME_DIR"):
        yield Path(user) / "edge-asr", True


@dataclass(frozen=True, slots=True)
class AdminClient:
    """A daemon that listens on a unix socket."""

    path: Path

    def describe(self) -> dict[str, Any]:
        """Which daemon it is: ``pid``, ``store``, ``model``, ``state``, ``sessions``."""
        return self._ask("GET", "/admin", None)

    def activate(self, model: str, max_wer: float) -> dict[str, Any]:
        """Make an installed model the active one; raises what the daemon raised."""
        return self._ask("POST", "/admin/activate", {"model": model, "max_wer": max_wer})

    def rollback(self) -> dict[str, Any]:
        """Go back to the model that was active before; raises what the daemon raised."""
        return self._ask("POST", "/admin/rollback", {})

    def trace(self, session: str) -> dict[str, Any]:
        """Write a session down; raises what the daemon raised."""
        return self._ask("POST", "/admin/trace", {"session": session})

    def _ask(self, method: str, path: str, body: Mapping[str, object] | None) -> dict[str, Any]:
        connection = _UnixConnection(self.path)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None)
            answer = connection.getresponse()
            document: dict[str, Any] = json.load(answer)
        except PermissionError as error:
            raise MachineError(
                f"a daemon runs, and its socket {self.path} may not be used by this user; use sudo, or its group"
            ) from error
        except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
            raise MachineError(f"the daemon at {self.path} did not answer ({error!r}); its log says more") from error
        finally:
            connection.close()
        if answer.status >= http.client.BAD_REQUEST:
            raise _error_in(document)
        return document


def running_daemon(setting: str, environment: Mapping[str, str]) -> AdminClient | None:
    """The daemon whose admin socket is there, if it can be asked.

    Args:
        setting: ``server.admin_socket``.
        environment: Like ``os.environ``.
    """
    if setting == OFF:
        return None
    paths = [Path(setting)] if setting else [directory / SOCKET for directory, _ in _directories(environment)]
    return next((AdminClient(path) for path in paths if _is_answered(path)), None)


def _is_answered(path: Path) -> bool:
    """Whether a daemon listens there; one that does not let us in does."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except PermissionError:
            return path.is_socket()
        except OSError:
            return False
    return True


def _error_in(document: Mapping[str, Any]) -> EdgeAsrError:
    error = document.get("error", {})
    return error_of(str(error.get("code", "")), str(error.get("message", "the daemon refused and did not say why")))


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=ANSWER_WITHIN_S)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket's file."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))
