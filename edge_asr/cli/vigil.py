"""Watching a daemon for a while after its model was changed: what would make one take the change back. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_LATE_SHARE = 0.01
"""Of live steps; the same as that of the alert EdgeAsrFallsBehind."""

LEAST_STEPS = 100
"""Fewer say nothing about one in a hundred."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What ``GET /admin`` says at one moment."""

    model: str
    state: str
    restarts: int
    live_steps: int
    late_steps: int

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> Reading:
        """From the document."""
        return cls(
            model=description["model"],
            state=description["state"],
            restarts=description["restarts"],
            live_steps=description["live_steps"],
            late_steps=description["late_steps"],
        )


@dataclass(frozen=True, slots=True)
class Vigil:
    """Begins with the first reading after the change."""

    first: Reading

    def fault(self, now: Reading) -> str:
        """What is wrong, as a clause; empty while nothing is."""
        if now.model != self.first.model:
            return ""  # somebody else has changed it meanwhile, and watches his own
        if now.state == "failed":
            return "its worker cannot be started"
        if now.restarts > self.first.restarts:
            return "its worker had to be replaced"
        steps, late = now.live_steps - self.first.live_steps, now.late_steps - self.first.late_steps
        if steps >= LEAST_STEPS and late > MOST_LATE_SHARE * steps:
            return f"{late} of {steps} live steps were late"
        return ""
