"""The account this process runs under, and the groups that open devices to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edge_asr.resources.procfs import read_fields, read_text


@dataclass(frozen=True, slots=True)
class Account:
    """Who we are."""

    name: str
    """Empty where the machine does not list the account (a service with a dynamic user)."""
    is_root: bool
    groups: frozenset[str]
    """Those this process really has."""
    listed_groups: frozenset[str]
    """Those the machine's list gives the account; a process gets them when it is started from a new login."""


def read_account(root: Path = Path("/")) -> Account | None:
    """The account of this process; ``None`` where it cannot be read."""
    try:
        status = read_fields(root / "proc/self/status")
        user = status["Uid"].split()[1]
        held = {status["Gid"].split()[1], *status.get("Groups", "").split()}
    except (FileNotFoundError, KeyError, IndexError):
        return None
    name = next((entry[0] for entry in _entries(root / "etc/passwd", 7) if entry[2] == user), "")
    groups = list(_entries(root / "etc/group", 4))
    return Account(
        name=name,
        is_root=user == "0",
        groups=frozenset(entry[0] for entry in groups if entry[2] in held),
        listed_groups=frozenset(entry[0] for entry in groups if name and name in entry[3].split(",")),
    )


def _entries(path: Path, columns: int) -> Iterator[list[str]]:
    rows = (line.split(":") for line in (read_text(path) or "").splitlines())
    return (row for row in rows if len(row) == columns)
