"""Builds the sinks that are configured, and runs them beside the daemon."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

from edge_asr.settings import Settings
from edge_asr.sinks.base import Outcome, Sink, Waiting
from edge_asr.sinks.hook import HookSink
from edge_asr.sinks.mqtt import MqttSink

logger = logging.getLogger(__name__)

LAST_FINALS_S = 3.0
"""For what was said last, when the daemon stops."""


def configured_sinks(
    settings: Settings, count: Callable[[str, Outcome], None], environment: Mapping[str, str]
) -> tuple[Sink, ...]:
    """The sinks that the settings name; ``count`` is told what becomes of each final, by the sink's name.

    Raises:
        ConfigurationError: One of them is configured wrongly.
        LibraryMissing: An extra is not installed.
    """
    sinks: list[Sink] = []
    if settings.mqtt.url:
        sinks.append(MqttSink(settings.mqtt, Waiting(MqttSink.name, settings.mqtt.queue, count)))
    if settings.hook.command:
        sinks.append(HookSink(settings.hook, Waiting(HookSink.name, settings.hook.queue, count), environment))
    return tuple(sinks)


@contextlib.asynccontextmanager
async def running(sinks: Sequence[Sink]) -> AsyncIterator[None]:
    """Deliver until left; then what waits has a moment longer."""
    tasks = [asyncio.create_task(sink.run()) for sink in sinks]
    try:
        yield
    finally:
        try:
            async with asyncio.timeout(LAST_FINALS_S):
                await asyncio.gather(*(sink.drained() for sink in sinks))
        except TimeoutError:
            logger.warning("finals were not delivered to every sink before the end")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
