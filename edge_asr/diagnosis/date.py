"""The clock on the wall."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from edge_asr.diagnosis.finding import Finding
from edge_asr.resources.wall_clock import WallClock

EARLIEST = datetime(2024, 1, 1, tzinfo=UTC)
"""No machine that runs this program lives before it."""


def clock_findings(clock: WallClock) -> Iterator[Finding]:
    """Whether the date can be believed."""
    date = datetime.fromtimestamp(clock.unix_s, UTC)
    if date < EARLIEST:
        yield Finding(
            "warning",
            "clock_wrong",
            f"the clock says {date:%Y-%m-%d}",
            "certificates look invalid, so that no model can be fetched; logs have wrong times",
            "connect the board to a network (sudo timedatectl set-ntp true), fit a clock with a battery, or set it: "
            "sudo date -s",
        )
    elif clock.is_synchronised is False:
        yield Finding(
            "info",
            "clock_not_synchronised",
            f"no time service keeps the clock, which says {date:%Y-%m-%d %H:%M} UTC",
            "logs of several boards do not fit together; speech is timed by another clock and does not suffer",
            "sudo timedatectl set-ntp true",
        )
    else:
        yield Finding("ok", "clock", f"the clock says {date:%Y-%m-%d %H:%M} UTC")
