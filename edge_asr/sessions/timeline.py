"""From the engine's time to the client's: audio that was lost or never given to the engine still took its time."""

from __future__ import annotations

from bisect import bisect_right


class Timeline:
    """Positions in one session, in samples at the engine's rate.

    The engine counts only what it was given; the client counts everything since it began. Each loss, and each fresh
    engine stream, shifts the two against each other from a position on.
    """

    def __init__(self) -> None:
        self._positions = [0]
        self._offsets = [0]

    def shift(self, engine_position: int, samples: int) -> None:
        """From ``engine_position`` on, the client's count is ahead by ``samples`` more; positions never go back."""
        if engine_position == self._positions[-1]:
            self._offsets[-1] += samples
            return
        self._positions.append(engine_position)
        self._offsets.append(self._offsets[-1] + samples)

    def begin_stream(self, client_position: int) -> None:
        """A fresh engine stream counts from 0 at the client's ``client_position``."""
        self._positions = [0]
        self._offsets = [client_position]

    def forget_before(self, engine_position: int) -> None:
        """Nothing earlier will be asked for; keeps a session of days small."""
        keep = bisect_right(self._positions, engine_position) - 1
        if keep > 0:
            del self._positions[:keep]
            del self._offsets[:keep]

    def to_client(self, engine_position: int) -> int:
        """The client's position of an engine position."""
        return engine_position + self._offsets[max(0, bisect_right(self._positions, engine_position) - 1)]
