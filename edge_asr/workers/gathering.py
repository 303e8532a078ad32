"""Small pieces of a session's audio, joined on their way to its worker: each message wakes it. Pure.

The worker says from which audio on something can come of it: until all of that is there, the pieces wait here. After a
step the next one is awaited where it must be, so that they wait also while the worker is busy; it says so when it is
wrong.
"""

from __future__ import annotations

from edge_asr.workers.quiet_watch import QuietWatch

RESTING_S = 0.18
"""Audio of a session that rests is passed on when there is so much of it: each look costs the worker the same, however
short the piece, and several times as much on a core whose caches are cold. A sound waits here for as long at most."""

QUIET_S = 0.45
"""As much where it is as quiet as what the worker has found silent. No more, since a worker that says nothing for half
a second is looked at whether it hangs."""


class Gathering:
    """The newest audio of one session; positions are bytes since the session began.

    Args:
        bytes_per_second: Of the audio.
        accumulate_s: So much is looked at together by the worker in any case.
        watch: What listens while the session rests; ``None`` where nothing can.
    """

    def __init__(self, bytes_per_second: int, accumulate_s: float, watch: QuietWatch | None = None) -> None:
        self.is_resting = False
        """Whether the worker has found silence, and says that nobody waits for anything; until a sound is heard."""
        self._watch = watch
        self._is_watching = False
        self._is_silent = False
        """Whether the watch has heard all that is held, and no sound."""
        self._enough_bytes = accumulate_s * bytes_per_second
        self._enough_resting_bytes = max(RESTING_S, accumulate_s) * bytes_per_second
        self._enough_silent_bytes = max(QUIET_S, accumulate_s) * bytes_per_second
        self._pieces: list[bytes] = []
        self._held_bytes = 0
        self._end = 0
        """Position of the end of what came."""
        self._quiet_until = 0.0
        """Before all audio up to here is there nothing can come of it; 0 where something may at any time."""
        self._step_bytes = 0.0

    def add(self, piece: bytes) -> bytes:
        """The next audio; what is to be passed on now, empty while more is awaited."""
        self._pieces.append(piece)
        self._held_bytes += len(piece)
        self._end += len(piece)
        self._hear(piece)
        return self.take_enough()

    def heed(self, quiet_until: float, step_bytes: float, *, is_resting: bool, quiet_dbfs: float | None = None) -> None:
        """What the worker says of more audio.

        Args:
            quiet_until: Before all audio up to this position is there nothing can come of it; 0: something may.
            step_bytes: Audio from one decoding step to the next, the most that is held in any case.
            is_resting: Whether nobody notices when it comes a little later.
            quiet_dbfs: The loudest audio with which nobody does; ``None`` where loudness does not tell.
        """
        self._listen(quiet_dbfs if is_resting else None)
        self._step_bytes, self.is_resting = step_bytes, is_resting
        self._quiet_until = quiet_until
        self._await_next_step()

    def take_enough(self) -> bytes:
        """What is gathered, if it is enough."""
        if self._held_bytes < self._least_bytes or self._awaits_step:
            return b""
        return self.take()

    def take(self) -> bytes:
        """What is gathered: something comes after it that does not wait."""
        pieces, self._pieces, self._held_bytes = self._pieces, [], 0
        self._await_next_step()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def begin(self, position: int) -> None:
        """Another worker gets everything anew, up to a position."""
        self.take()
        self._is_watching = False
        self.is_resting, self._end, self._quiet_until = False, position, 0.0

    @property
    def _least_bytes(self) -> float:
        """So much is passed on."""
        if not self.is_resting:
            return self._enough_bytes
        return self._enough_silent_bytes if self._is_silent else self._enough_resting_bytes

    @property
    def _awaits_step(self) -> bool:
        return self._end < self._quiet_until and self._held_bytes < self._step_bytes

    def _await_next_step(self) -> None:
        """Where all was passed on up to a step, the next one is a step later."""
        passed = self._end - self._held_bytes
        if 0 < self._quiet_until <= passed and self._step_bytes:
            steps = 1 + (passed - self._quiet_until) // self._step_bytes
            self._quiet_until += steps * self._step_bytes

    def _hear(self, piece: bytes) -> None:
        """The newest piece of what is held; a sound ends the rest before the worker can say so."""
        if self._watch is None or not self._is_watching:
            self._is_silent = False
        elif self._watch.hears_sound(piece):
            self._is_silent = self.is_resting = False
        elif self._held_bytes == len(piece):
            self._is_silent = True

    def _listen(self, quiet_dbfs: float | None) -> None:
        """Take what is no louder for silence; ``None``: stop listening."""
        if self._watch is None or quiet_dbfs is None:
            self._is_watching = False
            return
        if not self._is_watching:
            self._watch.begin(self._end)
        self._is_watching = True
        self._watch.quiet_dbfs = quiet_dbfs
