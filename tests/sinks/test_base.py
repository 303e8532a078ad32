"""Finals that wait."""

from __future__ import annotations

import pytest

from edge_asr.sinks.base import Waiting
from tests.sinks.conftest import Counted, spoken


async def test_finals_come_in_order_and_stay_until_they_are_done(counted: Counted) -> None:
    waiting = Waiting("hook", 4, counted)
    one, two = spoken("one"), spoken("two")
    waiting.put(one)
    waiting.put(two)
    assert await waiting.first() is await waiting.first() is one
    waiting.done(one, "delivered")
    assert await waiting.first() is two
    assert counted == {("hook", "delivered"): 1}


async def test_the_oldest_give_way_and_it_is_said_once(counted: Counted, caplog: pytest.LogCaptureFixture) -> None:
    waiting = Waiting("mqtt", 2, counted)
    for number in range(5):
        waiting.put(spoken(str(number)))
    assert (await waiting.first()).text == "3"
    assert counted == {("mqtt", "dropped"): 3}
    assert caplog.text.count("does not follow") == 1


async def test_one_that_gave_way_while_it_was_delivered_is_counted_once(counted: Counted) -> None:
    waiting = Waiting("mqtt", 1, counted)
    one = spoken("one")
    waiting.put(one)
    waiting.put(spoken("two"))
    waiting.done(one, "delivered")
    assert counted == {("mqtt", "dropped"): 1}
    assert (await waiting.first()).text == "two"


async def test_it_is_drained_when_the_last_is_done(counted: Counted) -> None:
    waiting = Waiting("hook", 4, counted)
    await waiting.drained()
    one = spoken()
    waiting.put(one)
    waiting.done(one, "failed")
    await waiting.drained()
