"""Told to end (SIGTERM), a long command ends as on Ctrl-C: what it was working on is put away first."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def ending_well() -> Iterator[None]:
    """Let SIGTERM be a ``KeyboardInterrupt`` meanwhile; its default would leave temporary folders behind."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
