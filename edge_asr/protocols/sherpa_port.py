"""Both of sherpa-onnx's protocols at one address: their published clients can only be given a host and a port."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from edge_asr.errors import EdgeAsrError
from edge_asr.events import TranscriptEvent
from edge_asr.protocols.base import Conversation, Handshake, Message
from edge_asr.protocols.sherpa import SherpaConversation
from edge_asr.protocols.sherpa_offline import SherpaOfflineConversation, is_offline_header
from edge_asr.requests import Request
from edge_asr.workers.messages import Ready


class SherpaPortConversation(Conversation):
    """Becomes a conversation of the one or the other protocol with the first message."""

    def __init__(self, max_audio_s: float, handshake: Handshake) -> None:
        """Start a conversation.

        Raises:
            ProtocolViolation: The query of the URL asks for what there is not.
        """
        self._chosen: Conversation = SherpaConversation(handshake)
        self._other: Callable[[], Conversation] | None = lambda: SherpaOfflineConversation(max_audio_s, handshake)

    @property
    def protocol(self) -> str:
        """The one that was chosen."""
        return self._chosen.protocol

    @property
    def is_over(self) -> bool:
        """As the one that was chosen."""
        return self._chosen.is_over

    @property
    def may_rest(self) -> bool:
        """As the one that was chosen."""
        return self._chosen.may_rest

    def receive(self, message: Message) -> Iterator[Request]:
        """The first message decides."""
        if self._other is not None and isinstance(message, bytes) and is_offline_header(message):
            self._chosen = self._other()
        self._other = None
        return self._chosen.receive(message)

    def end_of_input(self) -> Iterator[Request]:
        """The client sends no more."""
        return self._chosen.end_of_input()

    def opened(self, session_id: str, ready: Ready) -> Iterator[Message]:
        """As the one that was chosen."""
        return self._chosen.opened(session_id, ready)

    def deliver(self, event: TranscriptEvent) -> Iterator[Message]:
        """As the one that was chosen."""
        return self._chosen.deliver(event)

    def caught_up(self) -> Iterator[Message]:
        """As the one that was chosen."""
        return self._chosen.caught_up()

    def refused(self, error: EdgeAsrError) -> Iterator[Message]:
        """As the one that was chosen."""
        return self._chosen.refused(error)
