"""``/admin/...``: what changes a running daemon. Behind the permissions of a unix socket, or a token; never open.

Requests and answers are JSON. An error answers ``{"error": {"code", "message"}}`` and has changed nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from edge_asr.errors import (
    ConfigurationError,
    EdgeAsrError,
    GateFailed,
    MachineError,
    ModelError,
    ModelNotFound,
    SessionError,
)

MOST_BODY_BYTES = 4096

_STATUS_OF_ERROR: tuple[tuple[type[EdgeAsrError], int], ...] = (
    (ConfigurationError, 400),
    (ModelNotFound, 404),
    (ModelError, 422),
    (GateFailed, 422),
    (MachineError, 503),
    (SessionError, 503),
)

_logger = logging.getLogger(__name__)


class Activate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of ``POST /admin/activate``."""

    model: str
    """Store name."""
    max_wer: float | None = None
    """Highest word error rate in the trial, 0 to 1; ``null`` for the default."""

    def __post_init__(self) -> None:
        if self.max_wer is not None and not 0 <= self.max_wer <= 1:
            raise ValueError(f"max_wer {self.max_wer} is outside 0 to 1")


class Drain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of ``POST /admin/drain``; may be left out."""

    drain: bool = True
    """``false``: open sessions again."""


class TraceSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of ``POST /admin/trace``."""

    session: str
    """Its id, or ``next``."""
    max_s: float = 300.0
    """Longest audio, seconds."""


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of what takes no arguments; may be left out."""


Arguments = TypeVar("Arguments", bound=msgspec.Struct)


class Administrator(Protocol):
    """Who carries it out; every result is a value for JSON."""

    def describe(self) -> dict[str, Any]:
        """Which daemon this is."""
        ...

    async def activate(self, name: str, max_wer: float | None = None) -> msgspec.Struct:
        """Make an installed model the active one."""
        ...

    async def rollback(self) -> msgspec.Struct:
        """Go back to the model that was active before."""
        ...

    async def reload(self) -> msgspec.Struct:
        """Read the configuration again."""
        ...

    def trace(self, session: str, max_s: float) -> msgspec.Struct:
        """Write a session down."""
        ...

    def drain(self) -> dict[str, Any]:
        """Open no more sessions."""
        ...

    def end_drain(self) -> dict[str, Any]:
        """Open sessions again."""
        ...


def admin_app(administrator: Administrator) -> ASGIApp:
    """The application behind the admin socket."""
    return Starlette(routes=admin_routes(administrator))


def admin_routes(administrator: Administrator, *, is_allowed: bool = True) -> list[Route]:
    """The routes.

    Args:
        administrator: Carries out what is asked.
        is_allowed: Whether whoever gets here has shown a token, or may write to the socket.
    """
    answers = _Answers(administrator)
    endpoints = {
        "/admin": ("GET", answers.describe),
        "/admin/activate": ("POST", answers.activate),
        "/admin/rollback": ("POST", answers.rollback),
        "/admin/reload": ("POST", answers.reload),
        "/admin/drain": ("POST", answers.drain),
        "/admin/trace": ("POST", answers.trace),
    }
    return [
        Route(path, _guarded(answer) if is_allowed else _forbidden, methods=[method])
        for path, (method, answer) in endpoints.items()
    ]


class _Answers:
    """Each method answers one path."""

    def __init__(self, administrator: Administrator) -> None:
        self._administrator = administrator

    async def describe(self, _: Request) -> object:
        return self._administrator.describe()

    async def activate(self, request: Request) -> object:
        wanted = await _arguments(request, Activate)
        return await self._administrator.activate(wanted.model, wanted.max_wer)

    async def rollback(self, request: Request) -> object:
        await _arguments(request, Nothing)
        return await self._administrator.rollback()

    async def reload(self, request: Request) -> object:
        await _arguments(request, Nothing)
        return await self._administrator.reload()

    async def trace(self, request: Request) -> object:
        wanted = await _arguments(request, TraceSession)
        return self._administrator.trace(wanted.session, wanted.max_s)

    async def drain(self, request: Request) -> object:
        wanted = await _arguments(request, Drain)
        return self._administrator.drain() if wanted.drain else self._administrator.end_drain()


async def _arguments(request: Request, kind: type[Arguments]) -> Arguments:
    """The body, read no further than it may be long.

    Raises:
        ConfigurationError: It is none of this kind.
    """
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BODY_BYTES:
            raise ConfigurationError(f"{request.url.path}: a body of more than {MOST_BODY_BYTES} bytes")
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ConfigurationError(f"{request.url.path}: {error}") from error


def _guarded(answer: Callable[[Request], Awaitable[object]]) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        try:
            return _json(await answer(request))
        except EdgeAsrError as error:
            _logger.warning("%s: %s", request.url.path, error)
            status = next((status for kind, status in _STATUS_OF_ERROR if isinstance(error, kind)), 500)
            return _refusal(status, error.code, str(error))

    return respond


async def _forbidden(request: Request) -> Response:
    message = f"{request.url.path} needs a token or the admin socket: start the daemon with --token-file FILE"
    return _refusal(403, "forbidden", message)


def _refusal(status: int, code: str, message: str) -> Response:
    return _json({"error": {"code": code, "message": message}}, status)


def _json(document: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(document), status, media_type="application/json")
