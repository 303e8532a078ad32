"""Makes the Wyoming door known in the local network (zeroconf, extra ``discovery``), so that Home Assistant offers it.

The name is the same after every restart, else every restart would look like another device. A network that is not there
yet, or changes its addresses, is followed; none of this ever disturbs the daemon.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING

from edge_asr.errors import LibraryMissing

if TYPE_CHECKING:
    from zeroconf import ServiceInfo
    from zeroconf.asyncio import AsyncZeroconf

logger = logging.getLogger(__name__)

SERVICE = "_wyoming._tcp.local."

MULTICAST = ("224.0.0.251", 5353)

LOOK_EVERY_S = 60.0
"""At the machine's addresses: a change is announced within this."""

FIRST_PATIENCE_S = 5.0
LONGEST_PATIENCE_S = 300.0


class Announcer:
    """Keeps one service announced."""

    def __init__(self, name: str, port: int, addresses: Callable[[], Sequence[str]]) -> None:
        """Prepare; nothing is announced yet.

        Args:
            name: Of this machine, the same after every restart.
            port: Where the door listens.
            addresses: By which the door can be reached now.

        Raises:
            LibraryMissing: The extra ``discovery`` is not installed.
        """
        try:
            import zeroconf  # noqa: F401  looked for at the start
        except ImportError as error:
            raise LibraryMissing("zeroconf", "pip install 'edge-asr[discovery]'") from error
        self._name = f"edge-asr-{name}"
        self._port = port
        self._addresses = addresses
        self.is_announced = asyncio.Event()

    async def run(self) -> None:
        """Announce, follow the addresses, until cancelled; the service is taken back then."""
        patience_s = FIRST_PATIENCE_S
        while True:
            try:
                if addresses := tuple(self._addresses()):
                    await self._announce(addresses)
                    patience_s = FIRST_PATIENCE_S
                    continue
                logger.debug("no network to announce the Wyoming door in")
            except _failures() as error:
                # Once per outage: a network may be missing for days.
                level = logging.WARNING if patience_s == FIRST_PATIENCE_S else logging.DEBUG
                logger.log(level, "the Wyoming door cannot be announced: %s", error or type(error).__name__)
            await asyncio.sleep(patience_s)
            patience_s = min(2 * patience_s, LONGEST_PATIENCE_S)

    async def _announce(self, addresses: tuple[str, ...]) -> None:
        """Until the addresses change."""
        from zeroconf.asyncio import AsyncZeroconf

        zeroconf = AsyncZeroconf(interfaces=list(addresses))
        try:
            service = self._service(addresses)
            await (await zeroconf.async_register_service(service, allow_name_change=True))
            logger.info("announced as %s at %s, port %d", service.name, ", ".join(addresses), self._port)
            self.is_announced.set()
            while tuple(self._addresses()) == addresses:  # noqa: ASYNC110  once a minute will do
                await asyncio.sleep(LOOK_EVERY_S)
        finally:
            self.is_announced.clear()
            await _take_back(zeroconf)

    def _service(self, addresses: Sequence[str]) -> ServiceInfo:
        from zeroconf.asyncio import AsyncServiceInfo

        return AsyncServiceInfo(
            SERVICE,
            f"{self._name}.{SERVICE}",
            parsed_addresses=list(addresses),
            port=self._port,
            server=f"{self._name}.local.",
        )


def own_addresses(host: str) -> tuple[str, ...]:
    """By which address a door at ``host`` can be reached: its own, or the one of the network where we would announce.

    Raises:
        OSError: There is no network.
    """
    if not ip_address(host).is_unspecified:
        return (host,)
    # Nothing is sent: connecting a datagram socket only asks the kernel for the route. The list of interfaces would
    # need a kind of socket that the hardened unit does not allow.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(MULTICAST)
        found = str(probe.getsockname()[0])
    return () if ip_address(found).is_loopback else (found,)


async def _take_back(zeroconf: AsyncZeroconf) -> None:
    try:
        await zeroconf.async_unregister_all_services()
    finally:
        await zeroconf.async_close()


def _failures() -> tuple[type[Exception], ...]:
    from zeroconf import Error

    return (OSError, Error)
