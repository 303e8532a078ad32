"""A directory appears whole and on the disk, or not at all: written beside its place, then put there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def put_in_place(new: Path, final: Path, old: Path) -> None:
    """Put ``new`` in the place of ``final``; a board that loses power meanwhile has one of them.

    Args:
        new: Complete; on the same file system.
        final: Where it is to be; need not be there.
        old: Where what was there stays until then.
    """
    _flush(new)
    if final.exists():
        shutil.rmtree(old, ignore_errors=True)
        final.rename(old)
    new.rename(final)
    shutil.rmtree(old, ignore_errors=True)


def _flush(directory: Path) -> None:
    """See that everything is on the disk, not only on its way there."""
    for path in (*directory.rglob("*"), directory):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
