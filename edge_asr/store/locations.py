"""Where models are kept: several places are read, one is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from edge_asr.errors import StoreNotWritable

SYSTEM_STORE = Path("/var/lib/edge-asr")


@dataclass(frozen=True, slots=True)
class StoreLocations:
    """Roots in the order in which they are searched."""

    roots: tuple[Path, ...]
    named: Path | None = None
    """The one the environment names for us (``EDGE_ASR_HOME``, ``STATE_DIRECTORY``): nothing else is written then."""

    def writable(self) -> Path:
        """The root that new models go to, made if it is missing.

        Raises:
            StoreNotWritable: With the places that were tried.
        """
        candidates = (self.named,) if self.named is not None else self.roots
        for root in candidates:
            if _can_be_written(root):
                return root
        raise StoreNotWritable(candidates or ("no place at all: neither EDGE_ASR_HOME nor HOME is set",))


def store_locations(environment: Mapping[str, str], system_store: Path = SYSTEM_STORE) -> StoreLocations:
    """Places by the environment, in the order of the command line's contract.

    Args:
        environment: Like ``os.environ``; ``EDGE_ASR_HOME``, ``STATE_DIRECTORY``, ``XDG_DATA_HOME``, ``HOME`` count.
        system_store: Replaced by tests.
    """
    named = [
        Path(value.split(":")[0]) for key in ("EDGE_ASR_HOME", "STATE_DIRECTORY") if (value := environment.get(key))
    ]
    roots = [*named, system_store]
    if environment.get("XDG_DATA_HOME"):
        roots.append(Path(environment["XDG_DATA_HOME"]) / "edge-asr")
    elif environment.get("HOME"):
        roots.append(Path(environment["HOME"]) / ".local" / "share" / "edge-asr")
    return StoreLocations(tuple(dict.fromkeys(roots)), named[0] if named else None)


def _can_be_written(root: Path) -> bool:
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(root, os.W_OK | os.X_OK)
