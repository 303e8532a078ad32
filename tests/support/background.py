"""Asynchronous servers beside a test that blocks, as the command line does."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

T = TypeVar("T")


@contextlib.contextmanager
def in_background(opened: Callable[[], AbstractAsyncContextManager[T]]) -> Iterator[T]:
    """Enter the context manager on an event loop of another thread; leave it at the end."""
    runner = asyncio.Runner()
    loop = runner.get_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    manager: AbstractAsyncContextManager[T] | None = None
    try:

        async def enter() -> T:
            nonlocal manager
            manager = opened()
            return await manager.__aenter__()

        yield asyncio.run_coroutine_threadsafe(enter(), loop).result(20)
    finally:
        if manager is not None:
            leaving = asyncio.run_coroutine_threadsafe(manager.__aexit__(None, None, None), loop)
            leaving.result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        runner.close()
