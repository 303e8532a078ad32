"""How many connections one address may hold, so that one client cannot take every place. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable


def is_crowding(address: str, addresses: Iterable[str], most: int) -> bool:
    """Whether this address holds more connections than it may.

    Args:
        address: Of the newest connection; empty for a unix socket, which is not counted, and neither is loopback.
        addresses: Of all connections, the newest too.
        most: ``limits.max_connections_per_address``; 0 for any number.
    """
    if not most or not address or ipaddress.ip_address(address.partition("%")[0]).is_loopback:
        return False
    return sum(other == address for other in addresses) > most
