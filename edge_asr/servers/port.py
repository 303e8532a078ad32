"""A port that speaks one websocket protocol and nothing else: for clients that can only be given a host and a port."""

from __future__ import annotations

import logging

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from edge_asr.servers.access import PeerAccess
from edge_asr.servers.http import is_same_origin
from edge_asr.servers.websocket import WebSocketDoor

logger = logging.getLogger(__name__)


def create_port_app(door: WebSocketDoor, access: PeerAccess) -> ASGIApp:
    """The application behind such a port. A page of another site may use it only where everybody may."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(scope, access)
        if refusal is not None:
            await refusal(scope, receive, send)
        else:
            await door.serve(WebSocket(scope, receive, send))

    return app


def _refusal(scope: Scope, access: PeerAccess) -> ASGIApp | None:
    peer = scope["client"][0] if scope.get("client") else ""
    headers = Headers(scope=scope)
    if not access.permits(peer):
        logger.warning("a client at %s was refused; add its network to server.allow", peer)
        return PlainTextResponse(f"clients at {peer} may not use this door\n", 403)
    if not access.is_open and not is_same_origin(headers.get("origin", ""), headers.get("host", "")):
        return PlainTextResponse(f"pages of {headers['origin']} may not use this daemon\n", 403)
    if scope["type"] != "websocket":
        return PlainTextResponse("this port speaks websocket only\n", 426, {"Upgrade": "websocket"})
    return None
