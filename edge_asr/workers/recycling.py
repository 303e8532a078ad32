"""When a worker is worn out and another one should take its place; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edge_asr.settings import WorkerSettings

RecycleReason = Literal["", "age", "sessions", "memory"]


@dataclass(frozen=True, slots=True)
class Wear:
    """What a worker has been through."""

    age_s: float
    """Since it was ready."""
    sessions: int
    """Opened in it."""
    grown_bytes: int
    """Resident memory beyond what it had once it was warm."""


def reason_to_recycle(wear: Wear, settings: WorkerSettings) -> RecycleReason:
    """Why it should be replaced; empty while it should not. A limit of 0 is none."""
    if 0 < settings.recycle_after_growth_mib << 20 <= wear.grown_bytes:
        return "memory"
    if 0 < settings.recycle_after_sessions <= wear.sessions:
        return "sessions"
    if 0 < settings.recycle_after_s <= wear.age_s:
        return "age"
    return ""
