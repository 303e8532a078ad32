"""Reads a websocket's messages before they are asked for, so that the pings behind them are answered.

A client that sends minutes of audio at once, faster than they are decoded, stands in its own way: the ping it sends to
see whether we live lies behind its audio, and after its deadline it hangs up without the finals it waits for. So the
audio is taken off the connection, first into memory, then into a file, up to a limit; only then is the client slowed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import struct
import tempfile
from collections import deque
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from edge_asr.errors import EdgeAsrError
from edge_asr.protocols.base import Message
from edge_asr.servers.dialogue import Connection, PeerGone

logger = logging.getLogger(__name__)

MEMORY_BYTES = 256 << 10
"""Of one connection; live audio never needs more."""

_OVERHEAD_BYTES = 64
"""Of a message in memory, so that many small ones count too."""

_HEADER = struct.Struct("<I?")
"""Of a message in the file: its bytes, and whether it is text."""


class ReadAhead:
    """A :class:`~edge_asr.servers.dialogue.Link` over a connection; a context manager."""

    def __init__(self, connection: Connection, limit_bytes: int, directory: Path | None) -> None:
        """Wrap a connection.

        Args:
            connection: Is read by nobody else.
            limit_bytes: What may wait; then the client is slowed down.
            directory: Where the file is made, when there is need for one; ``None`` for the system's place.
        """
        self._connection = connection
        self._limit_bytes = limit_bytes
        self._near: deque[Message] = deque()
        self._near_bytes = 0
        self._far = _SpoolFile(directory)
        self._has_ended = False
        self._failure: EdgeAsrError | PeerGone | None = None
        self._has_news = asyncio.Event()
        self._has_room = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self._far.close()

    @property
    def peer(self) -> str:
        """Who is at the other end."""
        return self._connection.peer

    @property
    def waiting_bytes(self) -> int:
        """What was read and not yet asked for."""
        return self._near_bytes + self._far.waiting_bytes

    async def receive(self) -> Message | None:
        """The oldest message; a peer that is gone is known at once, whatever it had sent before."""
        while True:
            if (message := self.take()) is not None:
                return message
            if self._failure is not None:
                raise self._failure
            if self._has_ended:
                return None
            self._has_news.clear()
            await self._has_news.wait()

    def take(self) -> Message | None:
        """The oldest message, if it is here already."""
        if isinstance(self._failure, PeerGone):
            raise self._failure
        message = self._next()
        if message is not None:
            self._has_room.set()
        return message

    async def send(self, message: Message) -> None:
        """Write one message."""
        await self._connection.send(message)

    async def close(self, reason: EdgeAsrError | None) -> None:
        """Close the connection."""
        await self._connection.close(reason)

    def abort(self) -> None:
        """Let go of the connection."""
        self._connection.abort()

    def rest(self, *, is_resting: bool) -> None:
        """Whether messages may be taken a little later than they come."""
        self._connection.rest(is_resting=is_resting)

    def _next(self) -> Message | None:
        if self._near:
            message = self._near.popleft()
            self._near_bytes -= len(message) + _OVERHEAD_BYTES
            return message
        return self._far.get()

    async def _read(self) -> None:
        try:
            while (message := await self._connection.receive()) is not None:
                await self._keep(message)
                self._has_news.set()
                await self._wait_for(self._limit_bytes)
            self._has_ended = True
        except (EdgeAsrError, PeerGone) as failure:
            self._failure = failure
        finally:
            self._has_news.set()

    async def _keep(self, message: Message) -> None:
        if self._far.waiting_bytes or self._near_bytes >= MEMORY_BYTES:
            try:
                await self._far.put(message)
            except OSError as error:
                logger.warning("cannot read ahead of %s, which is slowed down now: %s", self.peer, error)
                await self._wait_for(0)
            else:
                return
        self._near.append(message)
        self._near_bytes += len(message) + _OVERHEAD_BYTES

    async def _wait_for(self, most_bytes: int) -> None:
        while self.waiting_bytes > most_bytes:
            self._has_room.clear()
            await self._has_room.wait()


class _SpoolFile:
    """Messages in a file without a name; written beside the event loop, read in it while they are still in memory."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self._descriptor: int | None = None
        self._writing: asyncio.Task[None] | None = None
        self._start = self._end = 0

    @property
    def waiting_bytes(self) -> int:
        """Of all messages in it."""
        return self._end - self._start

    async def put(self, message: Message) -> None:
        """Append a message; raises ``OSError`` and keeps nothing where it cannot be written."""
        if self._descriptor is None:
            self._descriptor = _open_nameless(self._directory)
        if self._start == self._end:
            self._start = self._end = 0
        content = message.encode() if isinstance(message, str) else message
        record = _HEADER.pack(len(content), isinstance(message, str)) + content
        # A cancelled wait does not stop the thread, which must not write to a descriptor that is closed meanwhile.
        self._writing = asyncio.create_task(asyncio.to_thread(_write_at, self._descriptor, record, self._end))
        await asyncio.shield(self._writing)
        self._end += len(record)

    def get(self) -> Message | None:
        """The oldest message, if there is one."""
        if self._descriptor is None or self._start == self._end:
            return None
        size, is_text = _HEADER.unpack(os.pread(self._descriptor, _HEADER.size, self._start))
        content = os.pread(self._descriptor, size, self._start + _HEADER.size)
        self._start += _HEADER.size + size
        return content.decode() if is_text else content

    async def close(self) -> None:
        """Give the disk back."""
        if self._writing is not None:
            await asyncio.gather(self._writing, return_exceptions=True)
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _open_nameless(directory: Path | None) -> int:
    descriptor, name = tempfile.mkstemp(prefix="edge-asr-ahead-", dir=directory)
    with suppress(FileNotFoundError):
        Path(name).unlink()
    return descriptor


def _write_at(descriptor: int, record: bytes, offset: int) -> None:
    view = memoryview(record)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
