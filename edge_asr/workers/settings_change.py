"""What a changed configuration means for a running daemon; pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, replace

from edge_asr.settings import Settings, group_names
from edge_asr.workers.configuration import WORKER_GROUPS

LIVE_GROUPS = (*WORKER_GROUPS, "log")
"""A fresh worker takes those of the workers; the level of the log changes at once."""

LIVE_LIMITS = ("max_sessions", "max_models")
"""Limits that are looked at whenever a session is opened."""


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """Settings by their path, such as ``engine.threads``."""

    applied: tuple[str, ...]
    """Changed, and can hold at once."""
    needs_restart: tuple[str, ...]
    """Changed, and held by parts that are made when the daemon starts."""
    held: Settings
    """What holds then."""


def compare(old: Settings, new: Settings) -> SettingsChange:
    """What has changed from one to the other.

    Args:
        old: What holds now.
        new: What the configuration says.
    """
    changed = list(_changes(old, new))
    applied = tuple(path for path in changed if _is_live(path))
    return SettingsChange(applied, tuple(path for path in changed if not _is_live(path)), _with(old, new, applied))


def _changes(old: Settings, new: Settings) -> Iterator[str]:
    if old.model != new.model:
        yield "model"
    for group in group_names():
        before, after = getattr(old, group), getattr(new, group)
        for entry in dataclasses.fields(before):
            if getattr(before, entry.name) != getattr(after, entry.name):
                yield f"{group}.{entry.name}"


def _is_live(path: str) -> bool:
    group, _, name = path.partition(".")
    return path == "model" or group in LIVE_GROUPS or (group == "limits" and name in LIVE_LIMITS)


def _with(old: Settings, new: Settings, paths: tuple[str, ...]) -> Settings:
    """The old settings with these values of the new ones."""
    for path in paths:
        group, _, name = path.partition(".")
        if not name:
            old = replace(old, **{group: getattr(new, group)})
        else:
            value = getattr(getattr(new, group), name)
            old = replace(old, **{group: replace(getattr(old, group), **{name: value})})
    return old
