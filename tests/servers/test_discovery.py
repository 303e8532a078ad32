"""The Wyoming door in the local network, with zeroconf's own browser on the loopback interface."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from zeroconf import ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from edge_asr.errors import ConfigurationError
from edge_asr.servers.discovery import SERVICE, Announcer, own_addresses
from edge_asr.servers.doors import WyomingDoor
from edge_asr.settings import ServerSettings
from tests.support.doors import LIMITS

LOOPBACK = "127.0.0.1"

NAME = f"{os.getpid():012x}"
"""Other runs of these tests on this machine are in the same network."""

SERVED_NAME = f"edge-asr-{NAME}.{SERVICE}"


class Browser:
    """What Home Assistant would see."""

    def __init__(self) -> None:
        self.changes: asyncio.Queue[str] = asyncio.Queue()

    def take(self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        if name == SERVED_NAME:
            self.changes.put_nowait(state_change.name)


@asynccontextmanager
async def browsing() -> AsyncIterator[tuple[Browser, AsyncZeroconf]]:
    seen = Browser()
    try:
        zeroconf = AsyncZeroconf(interfaces=[LOOPBACK])
    except OSError as error:
        pytest.skip(f"no multicast here: {error}")
    browser = AsyncServiceBrowser(zeroconf.zeroconf, SERVICE, handlers=[seen.take])
    try:
        yield seen, zeroconf
    finally:
        await browser.async_cancel()
        await zeroconf.async_close()


@asynccontextmanager
async def announced(
    name: str, addresses: Callable[[], Sequence[str]] = lambda: (LOOPBACK,)
) -> AsyncIterator[Announcer]:
    announcer = Announcer(name, 10_300, addresses)
    running = asyncio.create_task(announcer.run())
    try:
        yield announcer
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_browser_finds_the_door_and_sees_it_go() -> None:
    async with browsing() as (seen, zeroconf):
        async with announced(NAME) as announcer:
            await announcer.is_announced.wait()
            assert await seen.changes.get() == "Added"
            info = AsyncServiceInfo(SERVICE, SERVED_NAME)
            assert await info.async_request(zeroconf.zeroconf, 3000)
            assert (info.port, info.parsed_addresses()) == (10_300, [LOOPBACK])
        assert await seen.changes.get() == "Removed"


async def test_no_network_is_no_failure() -> None:
    was_asked = asyncio.Event()

    def none() -> tuple[str, ...]:
        was_asked.set()
        return ()

    async with announced(NAME, none) as announcer:
        await was_asked.wait()
        assert not announcer.is_announced.is_set()


async def test_an_outage_is_said_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edge_asr.servers.discovery.FIRST_PATIENCE_S", 0.001)
    attempts = asyncio.Semaphore(0)

    def fails() -> tuple[str, ...]:
        attempts.release()
        raise OSError("Network is unreachable")

    async with announced(NAME, fails):
        for _ in range(4):
            await attempts.acquire()
    assert caplog.text.count("cannot be announced: Network is unreachable") == 1


def test_a_door_at_one_address_is_announced_there() -> None:
    assert own_addresses("192.168.1.7") == ("192.168.1.7",)


def test_a_door_at_all_addresses_is_announced_at_the_one_of_the_route(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edge_asr.servers.discovery.MULTICAST", (LOOPBACK, 5353))
    assert own_addresses("0.0.0.0") == ()  # nobody else could come there


def test_a_door_on_loopback_is_not_announced() -> None:
    with pytest.raises(ConfigurationError, match="nobody else can reach"):
        WyomingDoor(ServerSettings(wyoming="tcp://127.0.0.1:0", zeroconf=True), LIMITS)
