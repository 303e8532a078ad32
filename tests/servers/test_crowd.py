"""How many connections one address may hold."""

from __future__ import annotations

import pytest

from edge_asr.servers.crowd import is_crowding


@pytest.mark.parametrize(
    ("others", "most", "is_too_many"), [(1, 2, False), (2, 2, True), (50, 0, False)], ids=["below", "above", "off"]
)
def test_connections_of_the_same_address_are_counted(others: int, most: int, is_too_many: bool) -> None:
    addresses = ["192.0.2.1"] * others + ["192.0.2.1"]
    assert is_crowding("192.0.2.1", addresses, most) is is_too_many


def test_others_do_not_count() -> None:
    assert not is_crowding("192.0.2.1", ["192.0.2.1", *["192.0.2.2"] * 9], 1)


@pytest.mark.parametrize("address", ["", "127.0.0.1", "::1"])
def test_clients_on_this_machine_are_free(address: str) -> None:
    assert not is_crowding(address, [address] * 9, 1)


def test_an_address_with_a_zone_is_one() -> None:
    assert is_crowding("fe80::1%eth0", ["fe80::1%eth0"] * 2, 1)
