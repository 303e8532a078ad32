"""Messages read before they are asked for: in order, bounded, and gone with their connection."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from edge_asr.errors import EdgeAsrError, LimitExceeded
from edge_asr.protocols.base import Message
from edge_asr.servers.dialogue import PeerGone
from edge_asr.servers.read_ahead import MEMORY_BYTES, ReadAhead
from tests.support.doors import open_descriptors

PIECE = bytes(64 << 10)


class ScriptedLink:
    """Gives out what it was told to, then waits for ever."""

    def __init__(self, *script: Message | Exception | None) -> None:
        self.peer = "10.0.0.1"
        self.left = list(script)
        self.taken = 0
        self.is_empty = asyncio.Event()
        """Everything was taken, and kept: the reader asks for more."""

    async def receive(self) -> Message | None:
        if not self.left:
            self.is_empty.set()
            await asyncio.Event().wait()
        step = self.left.pop(0)
        self.taken += 1
        if isinstance(step, Exception):
            raise step
        return step

    async def send(self, message: Message) -> None:
        raise NotImplementedError

    async def close(self, reason: EdgeAsrError | None) -> None:
        raise NotImplementedError

    def abort(self) -> None:
        raise NotImplementedError

    def rest(self, *, is_resting: bool) -> None:
        raise NotImplementedError


async def until_full(ahead: ReadAhead, size: int) -> None:
    """Until so much waits, and the reader had every chance to read more."""
    while ahead.waiting_bytes < size:  # noqa: ASYNC110  the reader has no event for it
        await asyncio.sleep(0)
    for _ in range(10):
        await asyncio.sleep(0)


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def received(ahead: ReadAhead, count: int) -> list[Message | None]:
    return [await ahead.receive() for _ in range(count)]


@pytest.mark.parametrize("size", [10, MEMORY_BYTES // 2])
async def test_messages_come_in_order_and_as_they_were(size: int, tmp_path: Path) -> None:
    script: list[Message | None] = []
    for number in range(6):
        script += [bytes([number]) * size, f"text {number} ä", b""]
    async with ReadAhead(ScriptedLink(*script, None), 1 << 30, tmp_path) as ahead:
        assert await received(ahead, 19) == [*script, None]


async def test_what_waits_is_on_disk_without_a_name(tmp_path: Path) -> None:
    link = ScriptedLink(*[PIECE] * 40)
    before = open_descriptors()
    async with ReadAhead(link, 1 << 30, tmp_path) as ahead:
        await link.is_empty.wait()
        assert ahead.waiting_bytes >= 40 * len(PIECE)
        assert open_descriptors() == before + 1
        assert files_in(tmp_path) == []
    assert open_descriptors() == before


async def test_beyond_the_limit_nothing_is_read(tmp_path: Path) -> None:
    link = ScriptedLink(*[PIECE] * 40)
    async with ReadAhead(link, 10 * len(PIECE), tmp_path) as ahead:
        await until_full(ahead, 10 * len(PIECE))
        assert link.taken == 10
        await received(ahead, 20)
        await until_full(ahead, 10 * len(PIECE))
        assert link.taken == 30
        assert await received(ahead, 20) == [PIECE] * 20


async def test_without_read_ahead_one_message_waits(tmp_path: Path) -> None:
    link = ScriptedLink(*[b"x"] * 10)
    async with ReadAhead(link, 0, tmp_path) as ahead:
        await until_full(ahead, 1)
        assert link.taken == 1
        assert await received(ahead, 10) == [b"x"] * 10


async def test_a_peer_that_is_gone_is_known_before_its_messages_are_read(tmp_path: Path) -> None:
    link = ScriptedLink(b"x", b"y", PeerGone("closed"))
    async with ReadAhead(link, 1 << 20, tmp_path) as ahead:
        await until_full(ahead, 2)
        with pytest.raises(PeerGone, match="closed"):
            await ahead.receive()


async def test_what_is_wrong_with_a_message_comes_after_those_before_it(tmp_path: Path) -> None:
    link = ScriptedLink(b"x", LimitExceeded("limits.max_message_bytes", "2", "1"))
    async with ReadAhead(link, 1 << 20, tmp_path) as ahead:
        assert await ahead.receive() == b"x"
        with pytest.raises(LimitExceeded):
            await ahead.receive()


async def test_a_directory_that_cannot_be_written_slows_the_client_down(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    link = ScriptedLink(*[PIECE] * 20)
    async with ReadAhead(link, 1 << 30, tmp_path / "none") as ahead:
        await until_full(ahead, MEMORY_BYTES)
        assert link.taken == 5
        assert await received(ahead, 20) == [PIECE] * 20
    assert "cannot read ahead of 10.0.0.1" in caplog.text
