"""The events of one session on their way to its client, in order; bounded where the client reads slowly."""

from __future__ import annotations

from edge_asr.events import Partial, TranscriptEvent
from edge_asr.workers.mailbox import Mailbox

KEPT_PARTIALS = 32
"""With so many events waiting, a partial replaces the one before it, which is what partials mean anyway."""


class EventQueue(Mailbox[TranscriptEvent]):
    """A mailbox in which partials that nobody reads make room for the newest."""

    def put(self, item: TranscriptEvent) -> None:
        """Append an event; finals, notices and the end are never dropped."""
        if len(self._items) >= KEPT_PARTIALS and _replaces(item, self._items[-1]):
            self._items.pop()
        super().put(item)


def _replaces(event: TranscriptEvent, before: TranscriptEvent) -> bool:
    return isinstance(event, Partial) and isinstance(before, Partial) and event.segment == before.segment
