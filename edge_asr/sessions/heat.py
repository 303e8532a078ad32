"""How much of its capacity a hot machine keeps: lowered before the machine slows itself down, not after; pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

WARM_BELOW_LIMIT_C = 8.0
"""From here to the limit the capacity falls; a Raspberry Pi begins to slow down 5 °C below its hard limit."""

LEAST_SHARE = 0.5
"""At the limit: a Raspberry Pi 4 goes from 1,800 to 1,000 MHz and below."""

_SLOWING = frozenset(("throttled", "frequency_capped", "soft_temperature_limit", "under_voltage"))


@dataclass(frozen=True, slots=True)
class Heat:
    """What the machine says of itself now."""

    temperature_c: float | None = None
    """Hottest sensor; ``None`` where there is none."""
    limit_c: float = 80.0
    """Where the machine slows itself down."""
    frequency_share: float = 1.0
    """Highest frequency that may be chosen now, by the highest there is; the kernel lowers it when it is hot."""
    throttling: Collection[str] = ()
    """What the firmware holds back now: the names of :data:`edge_asr.resources.throttling.Throttle`."""

    @property
    def share(self) -> float:
        """Share of the capacity that can be counted on, 0 to 1."""
        shares = [self.frequency_share, LEAST_SHARE if _SLOWING & set(self.throttling) else 1.0]
        if self.temperature_c is not None:
            steps = (self.limit_c - self.temperature_c) / WARM_BELOW_LIMIT_C
            shares.append(LEAST_SHARE + (1 - LEAST_SHARE) * min(1.0, max(0.0, steps)))
        return min(shares)

    @property
    def reason(self) -> str:
        """What holds it back, as a clause; empty when nothing does."""
        if self.throttling:
            return f"the firmware reports {', '.join(sorted(self.throttling)).replace('_', ' ')}"
        if self.frequency_share < 1:
            return f"its clock is held at {self.frequency_share:.0%}"
        if self.share < 1 and self.temperature_c is not None:
            return f"it is at {self.temperature_c:.0f} °C of {self.limit_c:.0f} °C"
        return ""


COOL = Heat()
