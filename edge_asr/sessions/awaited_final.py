"""A final on its way: its text may come from a second model, and the name of its speaker from a third. No I/O."""

from __future__ import annotations

from dataclasses import replace

from edge_asr.sessions.second_hearing import Awaited, Closing, SaidFinal
from edge_asr.sessions.speaker_hearing import AwaitedSpeaker


class AwaitedFinal:
    """What is still missing of one final; nothing of the session is decoded before it is said.

    Args:
        closing: The segment.
        text: What the final says, or that on its way.
        speaker: Who said it, on its way; ``None`` where nobody asks.
    """

    def __init__(self, closing: Closing, text: Awaited | SaidFinal, speaker: AwaitedSpeaker | None) -> None:
        self.closing = closing
        self._text = text
        self._speaker = speaker

    @property
    def deadline_ns(self) -> int | None:
        """When it is to be looked at again although nothing has come; ``None`` for never."""
        if isinstance(self._text, Awaited):
            return self._text.deadline_ns
        return self._speaker.deadline_ns if self._speaker else None

    def outcome(self, now_ns: int) -> SaidFinal | None:
        """What to say; ``None`` while it is worth waiting."""
        if isinstance(self._text, Awaited):
            said = self._text.outcome(now_ns)
            if said is None:
                return None
            self._text = said
        if self._speaker is None:
            return self._text
        return replace(self._text, speaker=self._speaker.take()) if self._speaker.is_over(now_ns) else None

    def give_up(self) -> None:
        """Nobody waits any more."""
        for awaited in (self._text, self._speaker):
            if isinstance(awaited, (Awaited, AwaitedSpeaker)):
                awaited.give_up()
