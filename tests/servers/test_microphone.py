"""``WS /v1/mic``: reading along with the microphone of the machine."""

from __future__ import annotations

import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from edge_asr.listening.feed import Feed
from edge_asr.listening.messages import MicrophoneState
from tests.support.doors import http_door
from tests.support.recognizer import ScriptedRecognizer
from tests.support.values import final


def new_feed() -> Feed:
    return Feed(lambda: MicrophoneState("listening", "USB microphone", "the microphone is open"))


async def test_a_reader_hears_the_state_and_then_every_event_to_the_end() -> None:
    feed = new_feed()
    async with (
        http_door(ScriptedRecognizer(), microphone=feed) as base,
        connect(base.replace("http", "ws") + "/v1/mic") as reader,
    ):
        first = json.loads(await reader.recv())
        feed.put(final("go forward"))
        feed.close()
        rest = [json.loads(message) async for message in reader]
    assert first == {
        "type": "microphone",
        "state": "listening",
        "device": "USB microphone",
        "message": "the microphone is open",
    }
    assert [(event["type"], event["text"]) for event in rest] == [("final", "go forward")]


async def test_a_reader_who_leaves_does_not_matter() -> None:
    feed = new_feed()
    async with http_door(ScriptedRecognizer(), microphone=feed) as base:
        url = base.replace("http", "ws") + "/v1/mic"
        async with connect(url) as leaving:
            await leaving.recv()
        async with connect(url) as staying:
            await staying.recv()
            feed.put(final("stop"))
            assert json.loads(await staying.recv())["text"] == "stop"


async def test_a_daemon_without_a_microphone_says_so() -> None:
    async with http_door(ScriptedRecognizer()) as base:
        with pytest.raises(InvalidStatus) as refused:
            await connect(base.replace("http", "ws") + "/v1/mic")
    assert refused.value.response.status_code == 404
    assert "start it with --mic DEVICE" in str(json.loads(refused.value.response.body or b"{}"))
