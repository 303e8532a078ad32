"""Durations as people write them: ``90s``, ``30m``, ``24h``, ``1d``."""

from __future__ import annotations

import re

from edge_asr.errors import ConfigurationError

_UNITS_S = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|m|h|d)?", re.ASCII)


def parse_duration_s(text: str, option: str) -> float:
    """Seconds of a duration; a number alone is seconds.

    Raises:
        ConfigurationError: It is no duration, or nothing.
    """
    found = _WRITTEN.fullmatch(text.strip().lower())
    seconds = float(found[1]) * _UNITS_S[found[2] or "s"] if found else 0.0
    if seconds <= 0:
        raise ConfigurationError(f"{option} {text!r} is no duration; write e.g. 90s, 30m or 24h")
    return seconds
