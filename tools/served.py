"""A daemon of its own for the measuring tools, with its defaults but for what is asked for."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from tools.chaos_daemon import Daemon


@contextlib.asynccontextmanager
async def served(model: str, **settings: str) -> AsyncIterator[Daemon]:
    """Start it, read its log on, and end it.

    Args:
        model: Name, or directory with a manifest.
        settings: ``EDGE_ASR_*``.
    """
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(
            Path(folder) / "disk", {"EDGE_ASR_MODEL": model, "EDGE_ASR_ADMISSION_ENABLED": "true", **settings}
        )
        reading = asyncio.create_task(asyncio.to_thread(daemon.drain_log))
        try:
            yield daemon
        finally:
            await asyncio.to_thread(daemon.stop)
            await reading
