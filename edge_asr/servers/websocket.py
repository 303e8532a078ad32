"""Websocket doors: one route per protocol, one dialogue per connection."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from starlette.responses import JSONResponse
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from edge_asr.errors import EdgeAsrError, LimitExceeded, NotReady, ProtocolViolation
from edge_asr.protocols.base import Conversation, Handshake, Message
from edge_asr.servers.browser_access import answered_subprotocol
from edge_asr.servers.dialogue import Dialogue, PeerGone
from edge_asr.servers.read_ahead import ReadAhead
from edge_asr.servers.resting_websocket import rest_of
from edge_asr.servers.stream import SPARE_CONNECTIONS
from edge_asr.settings import LimitSettings
from edge_asr.workers.base import Recognizer

logger = logging.getLogger(__name__)

LIBRARY_SLACK = 4
"""The library cuts off messages this many times larger than the limit without a word; smaller ones are refused by us,
with the limit's name."""

NORMAL_CLOSURE = 1000
POLICY_VIOLATION = 1008
MESSAGE_TOO_BIG = 1009
INTERNAL_ERROR = 1011
TRY_AGAIN_LATER = 1013

MAX_REASON_BYTES = 123
"""What a close frame has room for."""


class WebSocketLink:
    """An accepted websocket as a :class:`~edge_asr.servers.dialogue.Connection`."""

    def __init__(self, websocket: WebSocket, max_message_bytes: int) -> None:
        self._websocket = websocket
        self._max_message_bytes = max_message_bytes
        self._rest = rest_of(websocket.scope)
        self._is_gone = False

    @property
    def peer(self) -> str:
        """Address of the other end."""
        return self._websocket.client.host if self._websocket.client else "local"

    async def receive(self) -> Message | None:
        """The next message; a websocket has no half-close, so there is always one or nobody."""
        received = await self._websocket.receive()
        if received["type"] == "websocket.disconnect":
            raise PeerGone(f"closed with code {received.get('code')}")
        text = received.get("text")
        message: Message = text if text is not None else received.get("bytes") or b""
        self._check_size(message)
        return message

    async def send(self, message: Message) -> None:
        """Write one message of the kind it is."""
        try:
            if isinstance(message, str):
                await self._websocket.send_text(message)
            else:
                await self._websocket.send_bytes(message)
        except (WebSocketDisconnect, RuntimeError, OSError) as error:
            # starlette raises RuntimeError for a send after the peer's close frame was seen
            raise PeerGone(str(error)) from error

    async def close(self, reason: EdgeAsrError | None) -> None:
        """Close with the code and sentence that belong to the reason."""
        if self._is_gone or self._websocket.client_state is not WebSocketState.CONNECTED:
            return
        try:
            await self._websocket.close(close_code(reason), close_reason(reason))
        except (WebSocketDisconnect, RuntimeError, OSError) as error:
            logger.debug("%s was gone before it could be closed: %s", self.peer, error)

    def abort(self) -> None:
        """Say no goodbye: the library closes then, and the kernel gives up on a peer that reads nothing."""
        self._is_gone = True

    def rest(self, *, is_resting: bool) -> None:
        """Whether the socket may be read a little later."""
        self._rest(is_resting)

    def _check_size(self, message: Message) -> None:
        size = len(message)
        if size > self._max_message_bytes:
            limit = f"{self._max_message_bytes} bytes"
            raise LimitExceeded("limits.max_message_bytes", f"a message of {size} bytes", limit, "send smaller frames")


OpenConversation = Callable[[Handshake], Conversation]
"""Makes the server's side of a connection; raises :class:`ProtocolViolation` where the handshake asks for nonsense."""


class WebSocketDoor:
    """Serves one protocol's connections."""

    def __init__(
        self,
        open_conversation: OpenConversation,
        recognizer: Recognizer,
        limits: LimitSettings,
        spool_directory: Path | None = None,
    ) -> None:
        """Serve a protocol; what clients send faster than it is decoded waits in the directory."""
        self._open_conversation = open_conversation
        self._spool_directory = spool_directory
        self._recognizer = recognizer
        self._limits = limits
        self._connections = 0

    async def serve(self, websocket: WebSocket) -> None:
        """One connection, from the handshake to its end."""
        status = self._recognizer.status()
        if not status.takes_sessions:
            # Before the handshake is answered a load balancer can still send it to another daemon.
            await _deny(websocket, NotReady(status.reason), 503)
            return
        most = self._limits.max_sessions + SPARE_CONNECTIONS
        if self._connections >= most:
            refusal = LimitExceeded("limits.max_sessions", f"{self._connections + 1} connections", str(most))
            await _deny(websocket, refusal, 503)
            return
        self._connections += 1
        try:
            conversation = self._open_conversation(_handshake_of(websocket))
            await websocket.accept(answered_subprotocol(websocket.scope))
            own = WebSocketLink(websocket, self._limits.max_message_bytes)
            async with ReadAhead(own, self._limits.read_ahead_bytes, self._spool_directory) as link:
                await Dialogue(link, conversation, self._recognizer, self._limits).run()
        except ProtocolViolation as refusal:
            await _deny(websocket, refusal, 400)
        finally:
            self._connections -= 1


async def _deny(websocket: WebSocket, refusal: EdgeAsrError, status: int) -> None:
    headers = {"Retry-After": "1"} if status == 503 else {}
    await websocket.send_denial_response(JSONResponse({"error": str(refusal)}, status, headers))


def _handshake_of(websocket: WebSocket) -> Handshake:
    headers = {name.lower(): value for name, value in websocket.headers.items()}
    return Handshake(websocket.url.path, dict(websocket.query_params), headers)


def close_code(reason: EdgeAsrError | None) -> int:
    """The close code that tells a client whether trying again can help."""
    if reason is None:
        return NORMAL_CLOSURE
    if reason.is_retryable:
        return TRY_AGAIN_LATER
    if getattr(reason, "limit", "") == "limits.max_message_bytes":
        return MESSAGE_TOO_BIG
    return POLICY_VIOLATION if reason.code in _CLIENT_FAULTS else INTERNAL_ERROR


_CLIENT_FAULTS = ("protocol_violation", "limit_exceeded", "model_not_found", "configuration_invalid")


_CUT = "…".encode()
"""What is written where words are left out."""


def close_reason(reason: EdgeAsrError | None) -> str:
    """The sentence, cut to what a close frame holds; its last part is the next step, and stays."""
    sentence = str(reason or "")
    head, separator, tail = sentence.encode().rpartition(b"; ")
    room = MAX_REASON_BYTES - len(_CUT + separator + tail)
    if room < len(head) and room > 0:
        return (head[:room].decode(errors="ignore").encode() + _CUT + separator + tail).decode()
    return sentence.encode()[:MAX_REASON_BYTES].decode(errors="ignore")
