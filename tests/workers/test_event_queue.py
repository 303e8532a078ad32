from __future__ import annotations

import asyncio

from edge_asr.events import Final, Partial, SessionEnded
from edge_asr.workers.event_queue import KEPT_PARTIALS, EventQueue


def partial(revision, segment=0):
    return Partial("s", segment, revision, f"text {revision}", 0, 0.0, 1.0, 0)


def final(segment):
    return Final("s", segment, "text", (), 0.0, 1.0, "silence", 0)


async def drain(queue):
    queue.close()
    events = []
    while (event := await queue.get()) is not None:
        events.append(event)
    return events


async def test_events_come_out_in_order():
    queue = EventQueue()
    events = [partial(0), partial(1), final(0), SessionEnded("s", 1.0)]
    for event in events:
        queue.put(event)
    assert await drain(queue) == events


async def test_a_reader_waits_for_the_first_event():
    queue = EventQueue()
    reader = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.put(partial(0))
    assert await reader == partial(0)


async def test_a_reader_that_waits_is_released_by_the_end():
    queue = EventQueue()
    reader = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.close()
    assert await reader is None


async def test_partials_nobody_reads_replace_one_another():
    queue = EventQueue()
    for revision in range(1000):
        queue.put(partial(revision))
    assert len(queue) == KEPT_PARTIALS
    assert (await drain(queue))[-1] == partial(999)


async def test_finals_nobody_reads_are_all_kept():
    queue = EventQueue()
    for segment in range(1000):
        queue.put(partial(0, segment))
        queue.put(partial(1, segment))
        queue.put(final(segment))
    assert [event.segment for event in await drain(queue) if isinstance(event, Final)] == list(range(1000))


async def test_what_is_cleared_is_not_read():
    queue = EventQueue()
    queue.put(partial(0))
    queue.clear()
    assert await drain(queue) == []
