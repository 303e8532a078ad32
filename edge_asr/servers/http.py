"""HTTP: health, metrics, models, transcription of uploads, status; and the websocket routes beside them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from edge_asr.listening.feed import Feed
from edge_asr.protocols.openai import error_content, render_model, render_models
from edge_asr.servers import page
from edge_asr.servers.access import HttpAccess
from edge_asr.servers.admin import Administrator, admin_routes
from edge_asr.servers.browser_access import authorization
from edge_asr.servers.microphone import MicrophoneDoor
from edge_asr.servers.transcriptions import Transcriptions, body_response
from edge_asr.servers.websocket import OpenConversation, WebSocketDoor
from edge_asr.settings import LimitSettings
from edge_asr.workers.base import Recognizer

OPEN_PATHS = ("/health/live", "/health/ready", "/")
"""Probes carry no credentials, and neither does a browser that opens the page, which asks for the token itself."""


@dataclass(frozen=True, slots=True)
class HttpServices:
    """What the HTTP door needs of the daemon."""

    recognizer: Recognizer
    limits: LimitSettings
    access: HttpAccess
    metrics: Callable[[], tuple[bytes, str]]
    """Text of all metrics and its media type."""
    status: Callable[[], dict[str, Any]]
    """The document of ``/status``."""
    spool_directory: Path | None
    """Where uploads wait; ``None`` for the system's place for temporary files."""
    websockets: Mapping[str, OpenConversation]
    """Path to the protocol spoken there."""
    administrator: Administrator | None = None
    """Who carries out ``/admin/...``; for clients with a token only."""
    microphone: Feed | None = None
    """What the microphone of this machine hears, where it has one."""


def create_app(services: HttpServices) -> ASGIApp:
    """The application behind the HTTP door."""
    reports = Reports(services)
    transcriptions = Transcriptions(services.recognizer, services.limits, services.spool_directory)
    app = Starlette(
        routes=[
            Route("/", page.index),
            Route(page.FOLDER + "{name}", page.file),
            Route("/health/live", reports.live),
            Route("/health/ready", reports.ready),
            Route("/metrics", reports.metrics),
            Route("/status", reports.status),
            Route("/v1/models", reports.models),
            Route("/v1/models/{name}", reports.model),
            *_admin_routes(services),
            Route("/v1/audio/transcriptions", transcriptions.answer, methods=["POST"]),
            *(
                WebSocketRoute(path, _websocket_door(services, conversation).serve)
                for path, conversation in services.websockets.items()
            ),
            WebSocketRoute("/v1/mic", MicrophoneDoor(services.microphone, services.limits.idle_timeout_s).serve),
        ],
        exception_handlers={HTTPException: _http_error},
    )
    return Gate(app, services.access)


def _admin_routes(services: HttpServices) -> list[Route]:
    if services.administrator is None:
        return []
    return admin_routes(services.administrator, is_allowed=services.access.token is not None)


def _websocket_door(services: HttpServices, conversation: OpenConversation) -> WebSocketDoor:
    return WebSocketDoor(conversation, services.recognizer, services.limits, services.spool_directory)


class Gate:
    """Lets nobody through to the application who does not have the token, where one is needed.

    A page of another site that runs in a browser on this machine reaches loopback too, and its websockets are not
    held back by the browser: whatever says that it comes from another origin is refused. A site may also give its own
    name our address (DNS rebinding), and then its pages say that they are ours: where nothing but the address keeps
    others out, we answer to the names of this machine alone.
    """

    def __init__(self, app: ASGIApp, access: HttpAccess) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request or websocket handshake."""
        headers = Headers(scope=scope)
        if scope["path"] in OPEN_PATHS or scope["path"].startswith(page.FOLDER):
            answer: ASGIApp = self._app
        elif not is_same_origin(headers.get("origin", ""), headers.get("host", "")):
            answer = _refusal(403, f"pages of {headers['origin']} may not use this daemon", "forbidden_origin", {})
        elif self._access.is_loopback_only and not is_own_name(headers.get("host", "")):
            message = (
                f"this daemon is not known as {headers['host']}; use 127.0.0.1 or localhost, or start it with "
                "--token-file FILE, or with --insecure http to let everybody in"
            )
            answer = _refusal(403, message, "forbidden_host", {})
        elif not self._access.permits(authorization(headers)):
            message = "this daemon needs a token: send the header 'Authorization: Bearer TOKEN'"
            answer = _refusal(401, message, "unauthorized", {"WWW-Authenticate": "Bearer"})
        else:
            answer = self._app
        await answer(scope, receive, send)


def is_same_origin(origin: str, host: str) -> bool:
    """Whether a request comes from a page of this daemon, or from no page at all.

    Args:
        origin: The ``Origin`` header; programs other than browsers send none.
        host: The ``Host`` header: what the client believes our name to be.
    """
    return not origin or origin.partition("://")[2].lower() == host.lower()


def is_own_name(host: str) -> bool:
    """Whether a ``Host`` header names this machine in a way that no site of the internet can: by address, or locally.

    Args:
        host: With or without a port; empty for a client that sends none, which is no browser.
    """
    name = re.sub(r":\d*$", "", host).strip("[]").rstrip(".").lower()
    return "." not in name or name.endswith((".localhost", ".local")) or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _refusal(status: int, message: str, code: str, headers: Mapping[str, str]) -> Response:
    return Response(error_content(message, "invalid_request_error", code), status, headers, "application/json")


class Reports:
    """What can be read of the daemon; each method answers one path."""

    def __init__(self, services: HttpServices) -> None:
        self._services = services

    async def live(self, _: Request) -> Response:
        """The event loop runs."""
        return _json({"status": "alive"})

    async def ready(self, _: Request) -> Response:
        """Whether a session would be opened now, and why not."""
        status = self._services.recognizer.status()
        return _json({"state": status.state, "reason": status.reason}, 200 if status.is_healthy else 503)

    async def metrics(self, _: Request) -> Response:
        """For Prometheus."""
        text, media_type = self._services.metrics()
        return Response(text, media_type=media_type)

    async def status(self, _: Request) -> Response:
        """For ``edge-asr status``."""
        return _json(self._services.status())

    async def models(self, _: Request) -> Response:
        """As OpenAI's."""
        return body_response(render_models(await self._services.recognizer.names()))

    async def model(self, request: Request) -> Response:
        """As OpenAI's."""
        return body_response(render_model(request.path_params["name"], await self._services.recognizer.names()))


def _json(document: dict[str, Any], status: int = 200) -> Response:
    return Response(msgspec.json.encode(document), status, media_type="application/json")


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    message = f"{request.method} {request.url.path}: {getattr(error, 'detail', error)}"
    return Response(error_content(message, "invalid_request_error", None), status, media_type="application/json")
