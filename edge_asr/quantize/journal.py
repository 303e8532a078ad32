"""What a long run has found out so far, a line for each thing, so that an interrupted one goes on where it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

Found = TypeVar("Found")


class Journal(Generic[Found]):
    """A table on disk that only grows; a line that was cut off in the middle is forgotten."""

    def __init__(self, path: Path, kind: type[Found]) -> None:
        """Read what is there.

        Args:
            path: Of the file; made at the first entry.
            kind: What the entries are.
        """
        self._path = path
        self._known: dict[str, Found] = {}
        for line in _whole_lines(path):
            key, found = msgspec.json.decode(line, type=tuple[str, kind])  # type: ignore[valid-type]
            self._known[key] = found

    def __len__(self) -> int:
        """Entries."""
        return len(self._known)

    def find(self, key: str) -> Found | None:
        """What was entered under the key."""
        return self._known.get(key)

    def enter(self, key: str, found: Found) -> None:
        """Write an entry down at once."""
        self._known[key] = found
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode((key, found)) + b"\n")


def _whole_lines(path: Path) -> Iterator[bytes]:
    if not path.is_file():
        return
    whole, _, rest = path.read_bytes().rpartition(b"\n")
    yield from whole.splitlines()
    if rest:  # The power failed, or somebody pressed Ctrl-C, while it was written.
        path.write_bytes(whole + b"\n" if whole else b"")
