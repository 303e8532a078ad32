"""What a search has found."""

from __future__ import annotations

from dataclasses import dataclass

NOTHING = -1
"""At a frame where nothing was asked for a token, which Paraformer does only now and then."""


@dataclass(frozen=True, slots=True)
class TokenPath:
    """For each frame of the encoder the token that was emitted there, the blank, or :data:`NOTHING`."""

    frames: tuple[int, ...]
    blank: int = 0

    @property
    def tokens(self) -> tuple[int, ...]:
        """Those that are text."""
        return tuple(token for token in self.frames if token not in (self.blank, NOTHING))


@dataclass(frozen=True, slots=True)
class Emitted:
    """A token that a search has found in one step."""

    token: int
    frame: int
    """Of the encoder, within the step."""
    log_prob: float
