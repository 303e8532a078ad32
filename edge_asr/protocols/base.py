"""What every protocol is to the servers: messages in, requests out; events in, messages out.

``servers/dialogue.py`` drives any :class:`Conversation` over any connection; a new protocol is one more
implementation of it and one more route. An implementation keeps its place in the protocol and nothing else: no I/O,
no clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from edge_asr.errors import EdgeAsrError
from edge_asr.events import TranscriptEvent
from edge_asr.requests import Ping, Request
from edge_asr.workers.base import PoolStatus
from edge_asr.workers.messages import Ready

Message = str | bytes
"""One websocket message (text or binary), or a piece of a byte stream, cut anywhere."""


class Conversation(Protocol):
    """One client's connection, in its protocol's words.

    The driver executes each request before it asks for the next one, so that a slow recogniser slows the client. At
    most one session runs at a time; :meth:`opened` and :meth:`deliver` speak of the one opened last.
    """

    @property
    def protocol(self) -> str:
        """Name of the protocol, for logs and metrics."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be said; the connection is closed then."""
        ...

    def receive(self, message: Message) -> Iterator[Request]:
        """Requests of one message, in order.

        Raises:
            ProtocolViolation: The message is not what the protocol allows here.
            LimitExceeded: It is larger than allowed.
        """
        ...

    def end_of_input(self) -> Iterator[Request]:
        """Requests that follow from the client having stopped sending: an open session is finished.

        Raises:
            ProtocolViolation: The input ended in the middle of a message.
        """
        ...

    def opened(self, session_id: str, ready: Ready) -> Iterator[Message]:
        """Answer to an ``Open`` that succeeded."""
        ...

    def deliver(self, event: TranscriptEvent) -> Iterator[Message]:
        """An event of the session, for the client."""
        ...

    def described(self, status: PoolStatus) -> Iterator[Message]:
        """Answer to a ``Describe``."""
        ...

    def answered(self, ping: Ping) -> Iterator[Message]:
        """Answer to a ``Ping``."""
        ...

    def refused(self, error: EdgeAsrError) -> Iterator[Message]:
        """The client cannot have what it asked for; the conversation is over."""
        ...
