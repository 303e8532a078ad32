"""Binding TCP ports."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from edge_asr.errors import AddressInUse
from edge_asr.servers.tcp import address_text, bind_tcp


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_port_0_takes_a_free_one() -> None:
    (bound,) = bind_tcp("127.0.0.1", 0, patience_s=1)
    with bound:
        assert bound.getsockname()[1] > 0
        assert address_text(bound) == f"127.0.0.1:{bound.getsockname()[1]}"


def test_a_taken_port_is_named(taken: int) -> None:
    with pytest.raises(AddressInUse, match=rf"cannot listen on 127\.0\.0\.1:{taken}: another program already listens"):
        bind_tcp("127.0.0.1", taken, patience_s=1)


def test_a_host_that_does_not_exist_is_named() -> None:
    with pytest.raises(AddressInUse, match=r"nowhere\.invalid:1: no such host"):
        bind_tcp("nowhere.invalid", 1, patience_s=1)


def test_all_addresses_of_a_name_get_the_same_port() -> None:
    bound = bind_tcp("localhost", 0, patience_s=1)
    ports = {opened.getsockname()[1] for opened in bound}
    for opened in bound:
        opened.close()
    assert len(ports) == 1


def test_an_address_that_is_not_up_yet_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    (bound,) = bind_tcp("192.0.2.77", 0, patience_s=1)
    with bound:
        assert bound.getsockname()[0] == "192.0.2.77"
    assert "no interface has the address 192.0.2.77 yet" in caplog.text


def test_the_kernel_drops_peers_that_do_not_answer() -> None:
    (bound,) = bind_tcp("127.0.0.1", 0, patience_s=1.5)
    with bound:
        assert bound.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 1500
