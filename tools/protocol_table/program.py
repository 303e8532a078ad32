"""What a client program is to the table: it listens, does something wrong, and breaks off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tools.protocol_table.daemon import Daemon
from tools.protocol_table.recording import Recording

Listen = Callable[[Daemon, Recording], Awaitable["Heard"]]
Err = Callable[[Daemon, Recording], Awaitable[str]]
Drop = Callable[[Daemon, Recording], Awaitable[None]]

UNKNOWN = "no-such-model"
PIECE_BYTES = 6400
"""0.2 s of 16 bit."""


@dataclass
class Heard:
    """What came back."""

    segments: list[str] = field(default_factory=list)
    partials: int | None = 0
    """``None`` where the protocol has none."""
    times_s: list[tuple[float, float]] | None = field(default_factory=list)
    """Of words, or where the protocol has only those, of segments; ``None`` where it has none."""
    ends: int = 0

    @property
    def text(self) -> str:
        """All segments."""
        return " ".join(segment for segment in self.segments if segment)


@dataclass(frozen=True)
class Program:
    """One client program over one protocol."""

    protocol: str
    client: str
    listen: Listen
    err: Err | None
    """Does something wrong; what the program shows. ``None`` where it has nothing to do wrong."""
    drop: Drop
    last_segment_only: bool = False
    """Whether the program takes the last message for the whole result."""


def speaks(address: str) -> connect:
    """A websocket as the published clients open it."""
    return connect(address, max_size=None)


async def until_closed(socket: ClientConnection) -> str:
    """The reason that the program's user sees."""
    try:
        while True:
            await socket.recv()
    except ConnectionClosed as closed:
        return closed.rcvd.reason if closed.rcvd else str(closed)


def dropping(address: Callable[[Daemon], str], *messages: Callable[[Recording], str | bytes]) -> Drop:
    """Connects, sends the messages and is gone without a word."""

    async def drop(daemon: Daemon, recording: Recording) -> None:
        async with speaks(address(daemon)) as socket:
            for message in messages:
                await socket.send(message(recording))
            socket.transport.abort()

    return drop
