"""A name for this machine that stays the same over restarts and does not give the machine's own identity away."""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path

from edge_asr.resources.procfs import read_text

_SALT = "edge-asr:"
"""systemd asks that the machine's id is not shown as it is."""

_LENGTH = 12


def stable_name(root: Path = Path("/")) -> str:
    """Twelve hexadecimal digits, of ``/etc/machine-id`` or, where there is none, of the host's name."""
    identity = (read_text(root / "etc/machine-id") or "").strip() or socket.gethostname()
    return hashlib.sha256(f"{_SALT}{identity}".encode()).hexdigest()[:_LENGTH]
