"""What every protocol is to the servers: messages in, requests out; events in, messages out.

``servers/dialogue.py`` drives any :class:`Conversation` over any connection; a new protocol is one more
implementation of it and one more route. An implementation keeps its place in the protocol and nothing else: no I/O,
no clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from edge_asr.errors import EdgeAsrError, ProtocolViolation
from edge_asr.events import TranscriptEvent
from edge_asr.requests import Ping, Request
from edge_asr.workers.base import PoolStatus
from edge_asr.workers.messages import Ready

Message = str | bytes
"""One websocket message (text or binary), or a piece of a byte stream, cut anywhere."""


@dataclass(frozen=True, slots=True)
class Handshake:
    """What a websocket's client said before its first message."""

    path: str = "/"
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""


class Conversation(Protocol):
    """One client's connection, in its protocol's words.

    The driver executes each request before it asks for the next one, so that a slow recogniser slows the client. At
    most one session runs at a time; :meth:`opened` and :meth:`deliver` speak of the one opened last. Methods that say
    nothing here are for the protocols that have such a message.
    """

    @property
    def protocol(self) -> str:
        """Name of the protocol, for logs and metrics."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be said; the connection is closed then."""
        ...

    @property
    def may_rest(self) -> bool:
        """Whether a client may stay for hours between two sessions; one of a single session has no reason to."""
        return False

    def greeting(self) -> Iterator[Message]:
        """What the server says first."""
        yield from ()

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

    def caught_up(self) -> Iterator[Message]:
        """Answer to a ``CatchUp``; also without a session, when there is nothing to wait for."""
        yield from ()

    def described(self, status: PoolStatus) -> Iterator[Message]:  # noqa: ARG002
        """Answer to a ``Describe``."""
        yield from ()

    def answered(self, ping: Ping) -> Iterator[Message]:  # noqa: ARG002
        """Answer to a ``Ping``."""
        yield from ()

    def refused(self, error: EdgeAsrError) -> Iterator[Message]:
        """The client cannot have what it asked for; the conversation is over."""
        ...


def object_with_type(text: str, what: str) -> dict[str, Any]:
    """The JSON object of a message, whose ``type`` says what it is.

    Args:
        text: The message.
        what: What the protocol calls it, with its article; for the reason.

    Raises:
        ProtocolViolation: It is none.
    """
    try:
        fields = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProtocolViolation(f"{what} is not JSON: {error}") from error
    if not isinstance(fields, dict) or not isinstance(fields.get("type"), str):
        raise ProtocolViolation(f"{what} must be a JSON object whose 'type' is a string")
    return fields
