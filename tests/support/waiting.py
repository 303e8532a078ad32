"""Waiting for what another process does: until a condition holds, never for a length of time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], object]) -> None:
    """Return when the condition holds; the test's own time limit ends a wait in vain."""
    while not condition():  # noqa: ASYNC110  what other processes do sets no event here
        await asyncio.sleep(0.005)
