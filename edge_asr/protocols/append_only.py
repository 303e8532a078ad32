"""Text for clients that can only append: the settled part of partials and the finals, as pieces."""

from __future__ import annotations

from edge_asr.events import Final, Partial
from edge_asr.subtitles import segment_gap


class AppendOnlyText:
    """Turns a session's events into pieces whose concatenation is the finals joined.

    This holds for engines whose ``stable_chars`` is a promise (``Ready.is_append_only``). Should an event contradict
    what was sent, nothing is sent until the text agrees again; :attr:`text` is right all the same.
    """

    def __init__(self) -> None:
        self._closed = ""
        self._sent = ""

    @property
    def text(self) -> str:
        """All finals so far."""
        return self._closed

    @property
    def whole(self) -> str:
        """All finals so far, but never less than was given out: a restarted engine may hear less."""
        return self._sent if self._sent.startswith(self._closed) else self._closed

    def take(self, event: Partial | Final) -> str:
        """The piece that this event settles; empty when it settles nothing new."""
        settled = event.text if isinstance(event, Final) else event.text[: event.stable_chars]
        whole = self._closed + segment_gap(self._closed, settled) + settled
        if isinstance(event, Final):
            self._closed = whole
        if not whole.startswith(self._sent):
            return ""
        piece = whole[len(self._sent) :]
        self._sent = whole
        return piece
