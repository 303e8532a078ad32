"""What a session's sender is told of its audio: how far it has got, how soon more is of use, and how often."""

from __future__ import annotations

from typing import NamedTuple

CREDIT_STEP_S = 0.25
"""Audio consumed between two credits of one session; a credit a chunk would be a message a chunk."""

_HELD_BACK_S = 0.1
"""What the robust front and the resampler may hold back."""


class Credit(NamedTuple):
    """How it stands with a session's audio; positions are bytes since the worker has it."""

    consumed_bytes: int = 0
    """Audio that no longer waits."""
    is_resting: bool = False
    """Whether nobody notices when more comes a little later."""
    quiet_until_bytes: int = 0
    """Before all audio up to here is there nothing can come of it; 0: something may at any time."""
    quiet_dbfs: float | None = None
    """The loudest audio, in frames of 20 ms, with which it rests on; ``None`` where loudness does not tell."""

    def is_news(self, before: Credit, step_bytes: float) -> bool:
        """Whether the sender would do something else than after the last one that it was given."""
        is_same = (self.is_resting, self.quiet_until_bytes) == (before.is_resting, before.quiet_until_bytes)
        return not is_same or self.consumed_bytes - before.consumed_bytes >= step_bytes


def unconfirmed_s(accumulate_ms: int) -> float:
    """Seconds of audio, at most, that nothing is said of before more comes, although everything is done.

    Args:
        accumulate_ms: Audio that is gathered before it is looked at.
    """
    return accumulate_ms / 1000 + CREDIT_STEP_S + _HELD_BACK_S
