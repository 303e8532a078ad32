"""Many listeners of one microphone: a slow one misses the oldest events, and holds up nobody. Asyncio."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator

from edge_asr.listening.messages import MicrophoneEvent, MicrophoneState
from edge_asr.workers.mailbox import Mailbox

MOST_EVENTS = 256
"""Waiting for one listener: some 20 seconds of them."""


class Feed:
    """Hands every event on to whoever listens at the moment.

    Args:
        state: The microphone's state now; what a new listener hears first.
    """

    def __init__(self, state: Callable[[], MicrophoneState]) -> None:
        self._state = state
        self._listeners: set[Mailbox[MicrophoneEvent]] = set()
        self._is_closed = False

    def put(self, event: MicrophoneEvent) -> None:
        """Something happened."""
        for listener in self._listeners:
            listener.put(event)

    def close(self) -> None:
        """Nothing more will happen."""
        self._is_closed = True
        for listener in self._listeners:
            listener.close()

    async def events(self) -> AsyncIterator[MicrophoneEvent]:
        """The state now, then what happens, to the end."""
        with self._listening() as listener:
            yield self._state()
            while (event := await listener.get()) is not None:
                yield event

    @contextlib.contextmanager
    def _listening(self) -> Iterator[Mailbox[MicrophoneEvent]]:
        listener = Mailbox[MicrophoneEvent](MOST_EVENTS)
        self._listeners.add(listener)
        if self._is_closed:
            listener.close()
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
