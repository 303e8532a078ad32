"""How often a session's sender is told how far its audio has got, and of how much it may never be told."""

from __future__ import annotations

CREDIT_STEP_S = 0.25
"""Audio consumed between two credits of one session; a credit a chunk would be a message a chunk."""

_HELD_BACK_S = 0.1
"""What the robust front and the resampler may hold back."""


def unconfirmed_s(accumulate_ms: int) -> float:
    """Seconds of audio, at most, that nothing is said of before more comes, although everything is done.

    Args:
        accumulate_ms: Audio that is gathered before it is looked at.
    """
    return accumulate_ms / 1000 + CREDIT_STEP_S + _HELD_BACK_S
