"""Three daemons behind Debian's nginx, one of which is killed while everybody talks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.support.daemon import CLIPS, DaemonProcess
from tests.support.doors import native_client
from tests.support.nginx import PROGRAM, STREAM_MODULE, Balancer, balancer
from tests.test_daemon_process import SAID, over_wyoming, pcm

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(
        PROGRAM is None or not STREAM_MODULE.exists(), reason="nginx or libnginx-mod-stream is not installed"
    ),
]

SILENCE = bytes(2 * 16_000 * 2)
"""Two seconds: longer than any endpoint rule waits."""


@pytest.fixture
def boards(tmp_path: Path) -> Iterator[list[DaemonProcess]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(DaemonProcess(EDGE_ASR_SERVER_ADMIN_SOCKET=str(tmp_path / f"{number}.sock")))
            for number in range(3)
        ]


@pytest.fixture
def front(boards: list[DaemonProcess], tmp_path: Path) -> Iterator[Balancer]:
    folder = tmp_path / "nginx"
    folder.mkdir()
    with balancer(folder, [board.http for board in boards], [board.wyoming for board in boards]) as running:
        yield running


@dataclass
class Talker:
    """Says a sentence again and again; connects anew when the connection breaks, and goes on with the next sentence."""

    address: str
    sentences: int
    finals: list[str] = field(default_factory=list)
    broken: int = 0
    """Connections that ended before the session did."""
    said: int = 0
    has_first_final: asyncio.Event = field(default_factory=asyncio.Event)
    may_go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def talk(self) -> None:
        while self.said < self.sentences:
            try:
                await self._one_connection()
            except (ConnectionClosed, InvalidStatus, OSError):
                self.broken += 1

    async def _one_connection(self) -> None:
        async with native_client(self.address) as client:
            await client.send('{"type":"hello","partials":false}')
            while self.said < self.sentences:
                self.said += 1
                await client.send(pcm("go-forward.flac") + SILENCE)
                await self._hear_until(client, "final")
                self.has_first_final.set()
                await self.may_go_on.wait()
            await client.send('{"type":"finish"}')
            await self._hear_until(client, "ended")

    async def _hear_until(self, client, kind: str) -> None:
        while True:
            message = json.loads(await client.recv())
            if message["type"] == "final":
                self.finals.append(message["text"])
            assert message["type"] != "failed", message
            if message["type"] == kind:
                return


async def sessions_of(board: DaemonProcess) -> int:
    async with httpx.AsyncClient() as client:
        status = (await client.get(f"{board.http}/status")).json()
    sessions: int = status["sessions"]
    return sessions


async def test_a_board_that_dies_costs_its_clients_one_sentence_and_the_others_nothing(boards, front) -> None:
    talkers = [Talker(front.http, sentences=4) for _ in range(6)]
    async with asyncio.TaskGroup() as talking:
        for talker in talkers:
            talking.create_task(talker.talk())
        for talker in talkers:
            await talker.has_first_final.wait()
        carried = [await sessions_of(board) for board in boards]
        boards[0].kill()
        for talker in talkers:
            talker.may_go_on.set()

    assert sorted(carried) == [2, 2, 2]  # nginx counts connections
    broken = [talker for talker in talkers if talker.broken]
    assert len(broken) == carried[0]
    for talker in talkers:
        # A sentence is lost where it was in the open segment when its connection broke, and none is said twice.
        assert talker.finals == ["go forward ten meters"] * (talker.sentences - talker.broken)
        assert talker.broken <= 1


async def test_uploads_go_to_another_board_and_nobody_notices(boards, front) -> None:
    boards[1].kill()
    async with httpx.AsyncClient(timeout=60) as client:
        for _ in range(6):
            with (CLIPS / "five-five.flac").open("rb") as file:
                answer = await client.post(f"{front.http}/v1/audio/transcriptions", files={"file": file})
            assert (answer.status_code, answer.json()["text"]) == (200, "five five")


async def test_a_board_that_drains_gets_no_new_sessions(boards, front, tmp_path) -> None:
    for number in (0, 2):
        async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(tmp_path / f"{number}.sock"))) as admin:
            assert (await admin.post("http://localhost/admin/drain")).status_code == 200
    finals = []
    for _ in range(4):
        talker = Talker(front.http, sentences=1)
        talker.may_go_on.set()
        await talker.talk()
        finals += talker.finals

    assert finals == ["go forward ten meters"] * 4


async def test_wyoming_goes_through_to_whoever_lives(boards, front) -> None:
    boards[0].kill()

    class Front:
        wyoming = front.wyoming

    for _ in range(3):
        assert await over_wyoming(Front(), "go-forward.flac") == [SAID["go-forward.flac"]]  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["/metrics", "/status", "/admin", "/admin/drain"])
async def test_what_belongs_to_one_board_is_not_asked_here(front, path) -> None:
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{front.http}{path}")).status_code == 404


async def test_the_captions_page_and_health_come_through(front) -> None:
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{front.http}/health/ready")).status_code == 200
        assert "<html" in (await client.get(f"{front.http}/")).text
