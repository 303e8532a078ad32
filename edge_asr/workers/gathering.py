"""Small pieces of a session's audio, joined on their way to its worker: each message wakes it. Pure."""

from __future__ import annotations

RESTING_S = 0.18
"""Audio of a session that rests is passed on when there is so much of it: each look costs the worker the same, however
short the piece, and several times as much on a core whose caches are cold. A sound waits here for as long at most."""


class Gathering:
    """The newest audio of one session.

    Args:
        bytes_per_second: Of the audio.
        accumulate_s: So much is looked at together by the worker in any case.
    """

    def __init__(self, bytes_per_second: int, accumulate_s: float) -> None:
        self.is_resting = False
        """Whether the worker has found silence, and says that nobody waits for anything."""
        self._enough_bytes = accumulate_s * bytes_per_second
        self._enough_resting_bytes = max(RESTING_S, accumulate_s) * bytes_per_second
        self._pieces: list[bytes] = []
        self._held_bytes = 0

    def add(self, piece: bytes) -> bytes:
        """The next audio; what is to be passed on now, empty while more is awaited."""
        self._pieces.append(piece)
        self._held_bytes += len(piece)
        return self.take_enough()

    def take_enough(self) -> bytes:
        """What is gathered, if it is enough."""
        enough = self._enough_resting_bytes if self.is_resting else self._enough_bytes
        return self.take() if self._held_bytes >= enough else b""

    def take(self) -> bytes:
        """What is gathered: something comes after it that does not wait."""
        pieces, self._pieces, self._held_bytes = self._pieces, [], 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def begin(self) -> None:
        """Another worker gets everything anew."""
        self.take()
        self.is_resting = False
