"""Which sinks there are, and that what was said last is still delivered."""

from __future__ import annotations

import asyncio

from edge_asr.settings import HookSettings, MqttSettings, Settings
from edge_asr.sinks.base import Waiting
from edge_asr.sinks.running import configured_sinks, running
from tests.sinks.conftest import Counted, spoken


def test_without_configuration_there_is_none(counted: Counted) -> None:
    assert configured_sinks(Settings(), counted, {}) == ()


async def test_each_that_is_configured_is_there(counted: Counted) -> None:
    settings = Settings(mqtt=MqttSettings("mqtt://broker"), hook=HookSettings(("true",)))
    assert [sink.name for sink in configured_sinks(settings, counted, {})] == ["mqtt", "hook"]


class Slow:
    """Delivers only when the daemon is about to stop."""

    name = "slow"

    def __init__(self, counted: Counted) -> None:
        self.waiting = Waiting(self.name, 4, counted)
        self.may_deliver = asyncio.Event()

    def offer(self, spoken: object) -> None:
        raise NotImplementedError

    async def run(self) -> None:
        await self.may_deliver.wait()
        self.waiting.done(await self.waiting.first(), "delivered")

    async def drained(self) -> None:
        self.may_deliver.set()
        await self.waiting.drained()


async def test_what_was_said_last_is_delivered_before_the_end(counted: Counted) -> None:
    sink = Slow(counted)
    async with running([sink]):
        sink.waiting.put(spoken())
    assert counted == {("slow", "delivered"): 1}
