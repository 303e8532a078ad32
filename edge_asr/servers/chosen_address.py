"""The option behind an address that cannot be listened on: the error of every door names it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from edge_asr.errors import AddressInUse
from edge_asr.servers.tcp import why_not


@contextlib.contextmanager
def chosen_by(option: str, address: str = "") -> Iterator[None]:
    """Name the option that chooses an address which cannot be had.

    Args:
        option: Such as ``--port``.
        address: Already bound; two doors may both bind the same one, and only one can listen.
    """
    try:
        yield
    except AddressInUse as error:
        raise AddressInUse(error.address, error.reason, option) from error
    except OSError as error:
        raise AddressInUse(address, why_not(error), option) from error
