from __future__ import annotations

import asyncio

from edge_asr.workers.mailbox import Mailbox


async def drain(mailbox: Mailbox[int]) -> list[int]:
    mailbox.close()
    items = []
    while (item := await mailbox.get()) is not None:
        items.append(item)
    return items


async def test_items_come_out_in_order():
    mailbox = Mailbox[int]()
    for item in range(1000):
        mailbox.put(item)
    assert await drain(mailbox) == list(range(1000))


async def test_a_slow_reader_misses_the_oldest():
    mailbox = Mailbox[int](most=2)
    for item in range(5):
        mailbox.put(item)
    assert await drain(mailbox) == [3, 4]


async def test_a_reader_that_waits_is_released_by_the_end():
    mailbox = Mailbox[int]()
    reader = asyncio.create_task(mailbox.get())
    await asyncio.sleep(0)
    mailbox.close()
    assert await reader is None
