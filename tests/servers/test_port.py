"""Vosk's and sherpa-onnx's protocols over real websockets, at their paths and on ports of their own."""

from __future__ import annotations

import json
import struct
import urllib.error
import urllib.request
from array import array

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from edge_asr.errors import ConfigurationError
from edge_asr.events import Failed
from edge_asr.servers.doors import PortDoor
from edge_asr.settings import ServerSettings
from tests.support.doors import LIMITS, http_door, port_door, websocket_client
from tests.support.recognizer import ScriptedRecognizer

FLOATS = array("f", [0.1, -0.1] * 1600).tobytes()
CONFIG = '{ "config" : { "sample_rate" : 16000 } }'


async def vosk_answers(client: ClientConnection, pieces: int = 2) -> list[dict[str, object]]:
    """As the published clients: send, receive, send, receive, end, receive."""
    await client.send(CONFIG)
    answers = []
    for _ in range(pieces):
        await client.send(bytes(6400))
        answers.append(json.loads(await client.recv()))
    await client.send('{"eof" : 1}')
    return [*answers, json.loads(await client.recv())]


async def test_a_vosk_client_gets_one_answer_to_each_message() -> None:
    async with http_door(ScriptedRecognizer()) as base, websocket_client(base, "/vosk") as client:
        answers = await vosk_answers(client)
        assert answers[:2] == [{"partial": "go"}, {"partial": "go"}]
        assert answers[2]["text"] == "go forward"
        await client.wait_closed()
        assert client.close_code == 1000


async def test_a_vosk_client_may_go_on_after_a_reset() -> None:
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer) as base, websocket_client(base, "/vosk") as client:
        await client.send(bytes(6400))
        await client.recv()
        await client.send('{"reset" : 1}')
        assert json.loads(await client.recv())["text"] == "go forward"
        assert (await vosk_answers(client))[-1]["text"] == "go forward"
    assert len(recognizer.sessions) == 2


async def test_a_failure_is_the_reason_of_the_close() -> None:
    recognizer = ScriptedRecognizer()
    recognizer.failure = Failed("s0", "worker_died", "the recogniser process ended", is_retryable=True)
    async with http_door(recognizer) as base, websocket_client(base, "/vosk") as client:
        await client.send(bytes(6400))
        await client.recv()
        await client.send('{"eof" : 1}')
        with pytest.raises(ConnectionClosed):
            await client.recv()
        assert (client.close_code, client.close_reason) == (1013, "the recogniser process ended")


async def test_a_sherpa_client_gets_results_and_then_done() -> None:
    async with http_door(ScriptedRecognizer()) as base, websocket_client(base, "/sherpa") as client:
        await client.send(FLOATS)
        await client.send("Done")
        messages = [await client.recv() for _ in range(3)]
        assert [json.loads(message)["text"] for message in messages[:2]] == ["go", "go forward"]
        assert messages[2] == "Done!"
        await client.send(FLOATS)
        assert json.loads(await client.recv())["text"] == "go"


async def test_wrong_samples_are_the_reason_of_the_close() -> None:
    async with http_door(ScriptedRecognizer()) as base, websocket_client(base, "/sherpa") as client:
        await client.send(array("h", [1000, -1000] * 1600).tobytes())
        with pytest.raises(ConnectionClosed):
            await client.recv()
        assert client.close_code == 1008
        assert client.close_reason
        assert client.close_reason.startswith("this protocol takes 32-bit floats")


async def test_recordings_are_answered_in_order_and_done_closes() -> None:
    recording = struct.pack("<ii", 8000, len(FLOATS)) + FLOATS
    async with http_door(ScriptedRecognizer()) as base, websocket_client(base, "/sherpa-offline") as client:
        await client.send(recording)
        await client.send(recording)
        assert [json.loads(await client.recv())["text"] for _ in range(2)] == ["go forward"] * 2
        await client.send("Done")
        await client.wait_closed()
        assert client.close_code == 1000


async def test_a_query_that_cannot_be_read_is_refused_before_the_websocket_opens() -> None:
    async with http_door(ScriptedRecognizer()) as base:
        with pytest.raises(InvalidStatus) as caught:
            async with websocket_client(base, "/sherpa?partials=maybe"):
                pass
    assert caught.value.response.status_code == 400
    assert b"partials" in caught.value.response.body


@pytest.mark.parametrize("path", ["", "/", "/anything"])
async def test_a_port_speaks_its_protocol_at_every_path(path: str) -> None:
    async with port_door("vosk", ScriptedRecognizer()) as address, connect(address + path) as client:
        assert (await vosk_answers(client))[-1]["text"] == "go forward"


async def test_the_sherpa_port_takes_streams_and_recordings() -> None:
    recognizer = ScriptedRecognizer()
    async with port_door("sherpa", recognizer) as address:
        async with connect(address) as client:
            await client.send(FLOATS)
            assert json.loads(await client.recv())["is_final"] is False
        async with connect(address) as client:
            await client.send(struct.pack("<ii", 8000, len(FLOATS)) + FLOATS)
            assert json.loads(await client.recv())["text"] == "go forward"
    assert recognizer.protocols == ["sherpa", "sherpa-offline"]


async def test_a_page_of_another_site_may_not_use_a_port() -> None:
    async with port_door("vosk", ScriptedRecognizer()) as address:
        with pytest.raises(InvalidStatus) as caught:
            async with connect(address, additional_headers={"Origin": "http://evil.example"}):
                pass
    assert caught.value.response.status_code == 403


async def test_an_insecure_port_lets_every_page_in() -> None:
    async with (
        port_door("vosk", ScriptedRecognizer(), insecure=("vosk",)) as address,
        connect(address, additional_headers={"Origin": "http://other.example"}) as client,
    ):
        assert (await vosk_answers(client))[-1]["text"] == "go forward"


async def test_a_browser_at_a_port_is_told_what_it_speaks() -> None:
    async with port_door("vosk", ScriptedRecognizer()) as address:
        with pytest.raises(urllib.error.HTTPError) as caught:
            await _get(address.replace("ws", "http", 1))
    assert caught.value.code == 426
    caught.value.close()


async def _get(url: str) -> None:
    import asyncio

    await asyncio.to_thread(urllib.request.urlopen, url)


def test_a_port_beyond_loopback_needs_networks() -> None:
    with pytest.raises(ConfigurationError, match="--insecure sherpa"):
        PortDoor("sherpa", 0, ServerSettings(host="0.0.0.0"), LIMITS)
