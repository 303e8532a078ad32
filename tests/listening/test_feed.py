"""Many listeners of one microphone."""

from __future__ import annotations

import asyncio

from edge_asr.listening.feed import MOST_EVENTS, Feed
from edge_asr.listening.messages import MicrophoneEvent, MicrophoneState
from tests.support.values import final

LISTENING = MicrophoneState("listening", "mic", "the microphone is open")


async def follow(feed: Feed) -> list[MicrophoneEvent]:
    return [event async for event in feed.events()]


async def test_every_listener_hears_the_state_first_and_then_what_happens() -> None:
    feed = Feed(lambda: LISTENING)
    followers = [asyncio.create_task(follow(feed)) for _ in range(2)]
    await asyncio.sleep(0)
    feed.put(final("go forward"))
    feed.close()
    assert [await follower for follower in followers] == [[LISTENING, final("go forward")]] * 2


async def test_a_listener_that_does_not_keep_up_misses_the_oldest() -> None:
    feed = Feed(lambda: LISTENING)
    follower = asyncio.create_task(follow(feed))
    await asyncio.sleep(0)
    for number in range(MOST_EVENTS + 5):
        feed.put(final("go", segment=number))
    feed.close()
    heard = await follower
    assert (len(heard), heard[1]) == (MOST_EVENTS + 1, final("go", segment=5))


async def test_who_comes_after_the_end_hears_the_last_state() -> None:
    feed = Feed(lambda: LISTENING)
    feed.close()
    assert await follow(feed) == [LISTENING]
