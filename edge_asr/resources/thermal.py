"""Temperature, as the kernel's thermal zones give it, and where the kernel begins to slow the machine down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from edge_asr.resources.procfs import read_int, read_text

LEAST_LIMIT_CELSIUS = 60.0
"""Lower trip points turn on fans or only count; no board slows down so early."""


def hottest_celsius(root: Path = Path("/")) -> float | None:
    """Temperature of the hottest zone; ``None`` where this machine has no sensor."""
    readings = [millidegrees / 1000 for zone in _zones(root) if (millidegrees := read_int(zone / "temp")) is not None]
    return max(readings, default=None)


def slowing_celsius(root: Path = Path("/")) -> float | None:
    """The lowest temperature at which the kernel lowers the clock: its lowest passive trip
    point; ``None`` where the kernel says nothing (on a Raspberry Pi the firmware decides, at 80 °C)."""
    points = [point for zone in _zones(root) for point in _trip_points(zone) if point[1] >= LEAST_LIMIT_CELSIUS]
    return min((celsius for kind, celsius in points if kind == "passive"), default=None)


def _zones(root: Path) -> Iterator[Path]:
    return (root / "sys/class/thermal").glob("thermal_zone*")


def _trip_points(zone: Path) -> Iterator[tuple[str, float]]:
    for path in sorted(zone.glob("trip_point_*_type")):
        millidegrees = read_int(path.with_name(path.name.replace("_type", "_temp")))
        if millidegrees is not None:
            yield read_text(path) or "", millidegrees / 1000
