"""Sockets that systemd hands over; the descriptors are real."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from edge_asr.errors import ConfigurationError
from edge_asr.servers.activation import adopt, inherited_descriptors, widest_host
from edge_asr.servers.admin_door import AdminDoor
from edge_asr.servers.doors import HttpDoor, PortDoor, WyomingDoor
from tests.support.doors import LIMITS, LOCAL

DOORS = ("http", "wyoming", "admin")


def environment(names: str, *, count: int | None = None, pid: int = 7) -> dict[str, str]:
    number = len(names.split(":")) if count is None else count
    return {"LISTEN_PID": str(pid), "LISTEN_FDS": str(number), "LISTEN_FDNAMES": names}


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        yield opened


def duplicate(opened: socket.socket) -> int:
    """A descriptor of its own, as the manager's would be."""
    return os.dup(opened.fileno())


def test_each_socket_goes_to_the_door_it_is_named_for() -> None:
    found = inherited_descriptors(environment("wyoming:edge-asr-http.socket:http"), 7, DOORS)
    assert found == {"wyoming": (3,), "http": (4, 5)}


def test_sockets_for_another_process_are_not_ours() -> None:
    assert inherited_descriptors(environment("http", pid=8), 7, DOORS) == {}
    assert inherited_descriptors({}, 7, DOORS) == {}


def test_a_socket_without_a_name_is_for_http() -> None:
    assert inherited_descriptors({"LISTEN_PID": "7", "LISTEN_FDS": "1"}, 7, DOORS) == {"http": (3,)}
    assert inherited_descriptors(environment("unknown"), 7, DOORS) == {"http": (3,)}


def test_a_name_of_no_door_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'htpp', which is no door; write FileDescriptorName= with one of"):
        inherited_descriptors(environment("htpp"), 7, DOORS)


def test_a_count_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="LISTEN_FDS='x' is not a whole number"):
        inherited_descriptors({"LISTEN_PID": "7", "LISTEN_FDS": "x"}, 7, DOORS)


def test_an_adopted_socket_is_not_inherited_further_and_drops_dead_peers(listener: socket.socket) -> None:
    (adopted,) = adopt("http", [duplicate(listener)], patience_s=1.5)
    with adopted:
        assert adopted.getsockname() == listener.getsockname()
        assert not adopted.get_inheritable()
        assert adopted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 1500


def test_what_does_not_listen_is_refused() -> None:
    with socket.socket() as silent, pytest.raises(ConfigurationError, match=r"needs ListenStream= and Accept=no"):
        adopt("http", [duplicate(silent)], patience_s=1)


def test_what_is_no_socket_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file, pytest.raises(ConfigurationError, match="'wyoming' is no socket"):
        adopt("wyoming", [os.dup(file.fileno())], patience_s=1)


def test_the_widest_of_several_addresses_counts(listener: socket.socket) -> None:
    with socket.create_server(("0.0.0.0", 0)) as everywhere:
        assert widest_host([listener, everywhere]) == "0.0.0.0"
    assert widest_host([listener]) == "127.0.0.1"


def test_an_inherited_door_to_everywhere_needs_a_token_although_the_settings_say_loopback() -> None:
    with socket.create_server(("0.0.0.0", 0)) as everywhere, pytest.raises(ConfigurationError, match="no token"):
        HttpDoor(LOCAL, LIMITS, [duplicate(everywhere)])
    with socket.create_server(("0.0.0.0", 0)) as everywhere, pytest.raises(ConfigurationError, match="--allow"):
        WyomingDoor(LOCAL, LIMITS, [duplicate(everywhere)])


async def test_an_inherited_unix_socket_is_guarded_by_its_permissions(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(tmp_path / "s"))
        opened.listen()
        for door in (HttpDoor(LOCAL, LIMITS, [duplicate(opened)]), WyomingDoor(LOCAL, LIMITS, [duplicate(opened)])):
            assert door.description.address == f"unix://{tmp_path}/s"
            assert door.description.access == "users of this machine who may write to the socket"
            await door.close()
        assert (tmp_path / "s").exists()  # the manager's, not ours to take away


async def test_an_inherited_admin_socket_is_served_and_left_there(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(tmp_path / "s"))
        opened.listen()
        door = AdminDoor(None, LIMITS, [duplicate(opened)])
        assert door.description.address == f"unix://{tmp_path}/s"
        await door.close()
        assert os.access(tmp_path / "s", os.F_OK)


def test_the_admin_door_is_never_reached_through_the_network(listener: socket.socket) -> None:
    with pytest.raises(ConfigurationError, match="the admin door is for this machine"):
        AdminDoor(None, LIMITS, [duplicate(listener)])


def test_an_inherited_port_of_its_own_obeys_the_rule_of_its_door() -> None:
    with socket.create_server(("0.0.0.0", 0)) as everywhere, pytest.raises(ConfigurationError, match="the vosk door"):
        PortDoor("vosk", 0, LOCAL, LIMITS, [duplicate(everywhere)])


SERVER = """
import asyncio, json, os, sys
from edge_asr.daemon import Daemon, Surroundings
from edge_asr.servers.access import DOORS
from edge_asr.servers.activation import inherited_descriptors
from edge_asr.settings import Settings
from tests.support.recognizer import ScriptedRecognizer

high = [os.dup2(int(word), 100 + index) for index, word in enumerate(sys.argv[1:])]
for index, descriptor in enumerate(high):  # 3 and up, as systemd hands them over
    os.dup2(descriptor, 3 + index)
os.environ["LISTEN_PID"] = str(os.getpid())

async def main():
    inherited = inherited_descriptors(os.environ, os.getpid(), DOORS)
    daemon = Daemon(Settings(), ScriptedRecognizer(), lambda: (b"", "text/plain"), Surroundings(inherited=inherited))
    running = asyncio.create_task(daemon.run())
    await daemon.doors_opened.wait()
    print(json.dumps([door.address for door in daemon.doors]), flush=True)
    await running

asyncio.run(main())
"""


def test_a_daemon_serves_clients_that_connected_before_it_was_started(listener: socket.socket) -> None:
    with socket.create_server(("127.0.0.1", 0)) as wyoming:
        ports = [opened.getsockname()[1] for opened in (listener, wyoming)]
        early = socket.create_connection(("127.0.0.1", ports[1]))  # it waits in the kernel
        early.sendall(b'{"type":"describe"}\n')
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(listener.fileno()), str(wyoming.fileno())],
            env=os.environ | {"LISTEN_FDS": "2", "LISTEN_FDNAMES": "http:wyoming"},
            stdout=subprocess.PIPE,
            pass_fds=(listener.fileno(), wyoming.fileno()),
        )
        with process, early:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline()) == [
                f"http://127.0.0.1:{ports[0]}",
                f"tcp://127.0.0.1:{ports[1]}",
            ]
            early.settimeout(20)
            assert early.recv(20).startswith(b'{"type":"info"')
            process.terminate()
        assert process.returncode == 0
