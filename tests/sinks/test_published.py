"""Finals of every session go to the sinks too, and nothing else changes."""

from __future__ import annotations

from datetime import UTC, datetime

from edge_asr.events import SessionEnded
from edge_asr.requests import SessionOptions
from edge_asr.sinks.base import Spoken
from edge_asr.sinks.published import PublishedRecognizer
from tests.support.doors import http_door, native_client, read_messages
from tests.support.recognizer import ScriptedRecognizer

THEN = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)


class ListSink:
    name = "list"

    def __init__(self) -> None:
        self.heard: list[Spoken] = []

    def offer(self, spoken: Spoken) -> None:
        self.heard.append(spoken)

    async def run(self) -> None:
        raise NotImplementedError

    async def drained(self) -> None:
        raise NotImplementedError


async def test_a_final_is_published_with_who_said_it_and_when() -> None:
    sink = ListSink()
    recognizer = PublishedRecognizer(ScriptedRecognizer(), [sink], lambda: THEN)
    session = await recognizer.open(SessionOptions(), protocol="wyoming")
    await session.send(bytes(320))
    await session.finish()
    events = [event async for event in session.events()]
    assert isinstance(events[-1], SessionEnded)
    (heard,) = sink.heard
    assert (heard.text, heard.protocol, heard.model, heard.language) == ("go forward", "wyoming", "starter-en", "en")
    assert heard.time == "2026-01-02T03:04:05.678+00:00"


async def test_nothing_said_is_nothing_published() -> None:
    sink = ListSink()
    recognizer = PublishedRecognizer(ScriptedRecognizer(words=""), [sink], lambda: THEN)
    session = await recognizer.open(SessionOptions(), protocol="native")
    await session.finish()
    assert [type(event) for event in [event async for event in session.events()]] == [SessionEnded]
    assert sink.heard == []


async def test_a_door_does_not_notice() -> None:
    sink = ListSink()
    recognizer = PublishedRecognizer(ScriptedRecognizer(), [sink], lambda: THEN)
    async with http_door(recognizer) as base, native_client(base) as client:
        await client.send('{"type":"hello"}')
        await client.send(bytes(320))
        await client.send('{"type":"finish"}')
        assert [message["type"] for message in await read_messages(client)] == ["ready", "partial", "final", "ended"]
    assert [heard.text for heard in sink.heard] == ["go forward"]
