"""The worker's end of the socket pair: messages in, messages out, blocking.

One thread reads; any thread writes. The front always reads, so a write that does not finish in time means that the
front is gone or will never come back, and the worker ends rather than wait for ever.
"""

from __future__ import annotations

import select
import socket
import struct
import threading
from collections.abc import Iterator

from edge_asr.workers.messages import FromWorker, MessageDecoder, ToWorker, encode_message

WRITE_TIMEOUT_S = 60
_READ_BYTES = 256 << 10


class FrontGone(Exception):
    """The front closed its end, or has not read for :data:`WRITE_TIMEOUT_S`."""


class Link:
    """Framed messages over a connected stream socket, which it owns."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        # A time-out of the socket object would also make reads non-blocking; this one concerns writes alone.
        timeout = struct.pack("@ll", WRITE_TIMEOUT_S, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
        self._decoder = MessageDecoder(ToWorker)
        self._write_lock = threading.Lock()
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)

    def receive(self, timeout_s: float | None = None) -> Iterator[ToWorker]:
        """Messages that have arrived, in order; waits for the first bytes of one, at most ``timeout_s``.

        Raises:
            FrontGone: There will be no more.
            ValueError: The front sent what no correct front sends.
        """
        if not self._poll.poll(None if timeout_s is None else timeout_s * 1000):
            return iter(())
        try:
            data = self._socket.recv(_READ_BYTES)
        except ConnectionError as error:
            raise FrontGone(str(error)) from error
        if not data:
            raise FrontGone("the front process closed the connection")
        return self._decoder.feed(data)

    def send(self, *messages: FromWorker) -> None:
        """Write messages, all at once: each write wakes the front.

        Raises:
            FrontGone: Nobody reads.
        """
        framed = b"".join(map(encode_message, messages))
        with self._write_lock:
            try:
                self._socket.sendall(framed)
            except OSError as error:
                raise FrontGone(str(error)) from error
