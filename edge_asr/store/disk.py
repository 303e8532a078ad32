"""A disk that is full is said so, whatever was being written."""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Iterator
from pathlib import Path

from edge_asr.errors import DiskFull

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def writing_to(directory: Path, *, is_store: bool = False) -> Iterator[None]:
    """Turn the system's errors of a full disk or an exhausted quota into ours.

    Args:
        directory: Where it is written.
        is_store: Whether that is a model store, whose place is configured; else somebody named it.

    Raises:
        DiskFull: While the block was writing, the space ran out.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFull(directory, is_store=is_store) from error
        raise


def require_space(directory: Path, needed_bytes: int, *, is_store: bool = False) -> None:
    """Refuse early what would not fit.

    Args:
        directory: Where it is to be written.
        needed_bytes: How much.
        is_store: As for :func:`writing_to`.

    Raises:
        DiskFull: Fewer bytes are free.
    """
    free_bytes = shutil.disk_usage(directory).free
    if needed_bytes > free_bytes:
        raise DiskFull(directory, needed_bytes, free_bytes, is_store=is_store)
