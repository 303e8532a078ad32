"""Temperature, as the kernel's thermal zones give it."""

from __future__ import annotations

from pathlib import Path

from edge_asr.resources.procfs import read_int


def hottest_celsius(root: Path = Path("/")) -> float | None:
    """Temperature of the hottest zone; ``None`` where this machine has no sensor."""
    zones = (root / "sys/class/thermal").glob("thermal_zone*/temp")
    readings = [millidegrees / 1000 for zone in zones if (millidegrees := read_int(zone)) is not None]
    return max(readings, default=None)
