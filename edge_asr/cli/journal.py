"""Log lines for systemd's journal: each with its level as ``<N>``, and without our name, which the journal knows."""

from __future__ import annotations

import os
from collections.abc import Mapping


def is_journal(environment: Mapping[str, str], descriptor: int) -> bool:
    """Whether what is written there goes straight to the journal (``$JOURNAL_STREAM``, ``systemd.exec(5)``).

    Args:
        environment: Like ``os.environ``.
        descriptor: Of standard error; a pipe behind a program that the journal reads is not meant.
    """
    device, _, inode = environment.get("JOURNAL_STREAM", "").partition(":")
    try:
        found = os.fstat(descriptor)
        return (int(device), int(inode)) == (found.st_dev, found.st_ino)
    except (ValueError, OSError):
        return False
