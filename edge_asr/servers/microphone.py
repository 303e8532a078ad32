"""``WS /v1/mic``: what the microphone of this machine hears, for whoever wants to read along. Nothing is taken in."""

from __future__ import annotations

import asyncio

import msgspec
from starlette.responses import JSONResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from edge_asr.listening.feed import Feed
from edge_asr.servers.browser_access import answered_subprotocol

NO_MICROPHONE = "this daemon has no microphone; start it with --mic DEVICE"


class MicrophoneDoor:
    """Serves those who read along.

    Args:
        feed: What the microphone hears; ``None`` for a daemon without one.
        patience_s: A reader that takes nothing for so long is let go.
    """

    def __init__(self, feed: Feed | None, patience_s: float) -> None:
        self._feed = feed
        self._patience_s = patience_s

    async def serve(self, websocket: WebSocket) -> None:
        """One reader, from the handshake to its end."""
        if self._feed is None:
            await websocket.send_denial_response(JSONResponse({"error": NO_MICROPHONE}, 404))
            return
        await websocket.accept(answered_subprotocol(websocket.scope))
        telling = asyncio.create_task(self._tell(websocket, self._feed))
        listening = asyncio.create_task(_until_gone(websocket))
        try:
            await asyncio.wait({telling, listening}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (telling, listening):
                task.cancel()
            await asyncio.gather(telling, listening, return_exceptions=True)

    async def _tell(self, websocket: WebSocket, feed: Feed) -> None:
        try:
            async for event in feed.events():
                async with asyncio.timeout(self._patience_s):
                    await websocket.send_text(msgspec.json.encode(event).decode())
            await websocket.close()
        except (WebSocketDisconnect, RuntimeError, OSError, TimeoutError):
            return  # starlette raises RuntimeError for a send after the peer's close frame was seen


async def _until_gone(websocket: WebSocket) -> None:
    while (await websocket.receive())["type"] != "websocket.disconnect":
        pass
