from __future__ import annotations

import os
import socket
import struct
import sys
from pathlib import Path

from edge_asr.resources.listeners import Listener, read_listeners
from tests.boards import write_tree

HEADING = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"


def row(address: str, port: int, state: str = "0A", inode: int = 111) -> str:
    zeros = "0" * len(address)
    ends = f"{address}:{port:04X} {zeros}:0000"
    return f"   0: {ends} {state} 00000000:00000000 00:00000000 00000000  1000        0 {inode} 1"


def words(packed: bytes) -> str:
    """An address as the kernel of this machine's byte order prints it."""
    return "".join(f"{word:08X}" for (word,) in struct.iter_unpack("=I", packed))


LOOPBACK = words(socket.inet_aton("127.0.0.1"))


def test_listening_ports_are_found_and_connections_are_not(tmp_path: Path) -> None:
    rows = [HEADING, row(LOOPBACK, 8765), row(LOOPBACK, 4000, state="01")]
    write_tree(tmp_path, {"proc/net/tcp": "\n".join(rows)})
    assert read_listeners(tmp_path) == (Listener("127.0.0.1", 8765, None),)


def test_addresses_of_version_6_are_read_too(tmp_path: Path) -> None:
    rows = [HEADING, row(words(socket.inet_pton(socket.AF_INET6, "fd00::1:2")), 10300), row("0" * 32, 80)]
    write_tree(tmp_path, {"proc/net/tcp6": "\n".join(rows)})
    assert [listener.address for listener in read_listeners(tmp_path)] == ["fd00::1:2", "::"]


def test_the_owner_is_who_has_the_socket_open(tmp_path: Path) -> None:
    write_tree(tmp_path, {"proc/net/tcp": f"{HEADING}\n{row(LOOPBACK, 8765, inode=4711)}", "proc/77/comm": "x"})
    (tmp_path / "proc/77/fd").mkdir()
    (tmp_path / "proc/77/fd/3").symlink_to("socket:[4711]")
    assert [listener.pid for listener in read_listeners(tmp_path)] == [77]


def test_unix_sockets_are_listeners_when_they_accept(tmp_path: Path) -> None:
    heading = "Num       RefCount Protocol Flags    Type St Inode Path"
    accepts = "0000000000000000: 00000002 00000000 00010000 0001 01 22222 /run/edge-asr/wyoming.sock"
    connected = "0000000000000000: 00000003 00000000 00000000 0001 03 22223 /run/other.sock"
    unnamed = "0000000000000000: 00000002 00000000 00010000 0001 01 22224"
    write_tree(tmp_path, {"proc/net/unix": "\n".join([heading, accepts, connected, unnamed])})
    assert read_listeners(tmp_path) == (Listener("/run/edge-asr/wyoming.sock", None, None),)


def test_our_own_socket_is_found_on_the_real_kernel(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(tmp_path / "s"))
        unix.listen()
        found = read_listeners()
        assert Listener("127.0.0.1", tcp.getsockname()[1], os.getpid()) in found
        assert Listener(str(tmp_path / "s"), None, os.getpid()) in found


def test_words_are_of_this_machines_byte_order() -> None:
    assert ("0100007F" if sys.byteorder == "little" else "7F000001") == LOOPBACK
