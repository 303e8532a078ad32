"""Facts of a document (board, settings, conditions) as pairs of name and text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from edge_asr.bench.figure_text import quantity

NOTHING = "–"
"""Stands for what a machine does not say."""

_BY_SUFFIX: dict[str, Callable[[float], str]] = {
    "_bytes": lambda value: quantity(value, "bytes"),
    "_share": lambda value: quantity(value, "share"),
    "_khz": lambda value: quantity(value / 1000, "MHz"),
    "_celsius": lambda value: quantity(value, "°C"),
    "_ms": lambda value: quantity(value, "ms"),
    "_s": lambda value: quantity(value, "s"),
}
"""The unit is in the name."""


def board_name(board: Mapping[str, Any]) -> str:
    """What people call the machine: its model, or else its processor; empty where it says neither."""
    clusters = board.get("clusters") or ()
    return str(board.get("model") or next((cluster["name"] for cluster in clusters if cluster.get("name")), ""))


def facts(content: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Nested mappings as dotted names; numbers with the unit that their name ends in."""
    for name, value in content.items():
        if isinstance(value, Mapping) and value:
            yield from facts(value, f"{before}{name}.")
        else:
            yield before + _without_unit(name, value), fact_text(name, value)


def fact_text(name: str, value: object) -> str:
    """One value on one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ((), [], {}, ""):
        return NOTHING
    if isinstance(value, Mapping):
        return ", ".join(f"{_without_unit(key, item)} {fact_text(key, item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        separator = "; " if any(isinstance(item, Mapping) for item in value) else ", "
        return separator.join(fact_text(name, item) for item in value)
    write = _writer(name, value)
    return write(value) if write and isinstance(value, (int, float)) else str(value)


def _writer(name: str, value: object) -> Callable[[float], str] | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return next((write for suffix, write in _BY_SUFFIX.items() if name.endswith(suffix)), None)


def _without_unit(name: str, value: object) -> str:
    """Shares keep their word: ``foreign share`` reads better than ``foreign``."""
    stem = name.rpartition("_")[0] if _writer(name, value) and not name.endswith("_share") else name
    return stem.replace("_", " ")
