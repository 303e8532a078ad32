"""What one connection may do to the others."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace

from edge_asr.errors import EdgeAsrError
from edge_asr.protocols.base import Message
from edge_asr.protocols.native import NativeConversation
from edge_asr.servers.dialogue import Dialogue
from tests.support.doors import LIMITS
from tests.support.recognizer import ScriptedRecognizer


class TalkativeLink:
    """A client whose small messages never end and have always come already."""

    peer = "10.0.0.1"

    def __init__(self) -> None:
        self.taken = 0

    def take(self) -> Message | None:
        self.taken += 1
        return b"\x00\x00" if self.taken > 1 else '{"type":"hello"}'

    async def receive(self) -> Message | None:
        raise NotImplementedError

    async def send(self, message: Message) -> None:
        """Nobody reads."""

    async def close(self, reason: EdgeAsrError | None) -> None:
        """Nobody is there."""

    def abort(self) -> None:
        """Nothing to let go of."""

    def rest(self, *, is_resting: bool) -> None:
        """All has come already."""


async def test_a_client_that_sends_without_end_lets_others_have_their_turn() -> None:
    link = TalkativeLink()
    limits = replace(LIMITS, max_session_s=60.0)  # a failing test ends too
    dialogue = Dialogue(link, NativeConversation(), ScriptedRecognizer(), limits)
    talking = asyncio.create_task(dialogue.run())
    await asyncio.sleep(0)
    turns = []
    for _ in range(20):
        await asyncio.sleep(0)
        turns.append(link.taken)
    talking.cancel()
    await asyncio.gather(talking, return_exceptions=True)
    gone_by = [now - then for then, now in itertools.pairwise(turns)]
    assert 0 < max(gone_by) <= 32
