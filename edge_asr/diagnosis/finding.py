"""One thing that was looked at, and what to do about it."""

from __future__ import annotations

from typing import Literal

import msgspec

Level = Literal["ok", "info", "warning", "error"]
"""``error``: this machine cannot do it as it is. ``warning``: it can, and something will go wrong. ``info``: worth
knowing. ``ok``: looked at and found well."""


class Finding(msgspec.Struct, frozen=True):
    """What was found."""

    level: Level
    code: str
    """Stable, lower_snake_case; the same thing has the same code wherever it is found."""
    what: str
    """What is the case, with the figure or the name."""
    why: str = ""
    """Why it matters here."""
    advice: str = ""
    """What to do."""
