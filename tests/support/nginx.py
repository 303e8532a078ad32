"""Debian's nginx with the configuration of ``packaging/nginx``, on free ports, in front of these boards."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

PACKAGING = Path(__file__).parents[2] / "packaging" / "nginx"
PROGRAM = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin:/bin")
STREAM_MODULE = Path("/usr/lib/nginx/modules/ngx_stream_module.so")

_MAIN = """
{user}
daemon off;
worker_processes 2;
pid {folder}/pid;
error_log {folder}/error.log;
load_module {module};
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/edge-asr.conf;
}}
include {folder}/edge-asr-stream.conf;
"""


@dataclass(frozen=True)
class Balancer:
    http: str
    """Base address."""
    wyoming: str
    """URI."""


@contextmanager
def balancer(folder: Path, http: Sequence[str], wyoming: Sequence[str]) -> Iterator[Balancer]:
    """nginx before three boards, of which only the addresses are replaced in the configuration.

    Args:
        folder: Empty; for its files.
        http: Base addresses of the boards' HTTP doors.
        wyoming: URIs of their Wyoming doors, in the same order.
    """
    with ExitStack() as stack:
        ports = [stack.enter_context(_free_port()) for _ in range(2)]
        ours = Balancer(f"http://127.0.0.1:{ports[0]}", f"tcp://127.0.0.1:{ports[1]}")
    _write(folder / "edge-asr.conf", {8765: http}, {8080: ports[0]})
    _write(folder / "edge-asr-stream.conf", {10300: wyoming}, {10300: ports[1]})
    main = folder / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""  # whose files these are
    main.write_text(_MAIN.format(folder=folder, module=STREAM_MODULE, user=user))
    assert PROGRAM is not None
    command = [PROGRAM, "-c", str(main), "-e", str(folder / "error.log")]
    with subprocess.Popen(command) as process:
        try:
            _wait_for(process, ports)
            yield ours
        finally:
            process.terminate()


def _write(path: Path, boards: dict[int, Sequence[str]], listens: dict[int, int]) -> None:
    text = (PACKAGING / path.name).read_text()
    for port, addresses in boards.items():
        for number, address in enumerate(addresses, 1):
            named = f"board-{number}.local:{port}"
            assert named in text
            text = text.replace(named, urllib.parse.urlsplit(address).netloc)
    for port, free in listens.items():
        text, count = re.subn(rf"listen {port};", f"listen 127.0.0.1:{free};", text)
        assert count == 1
    path.write_text(text)


@contextmanager
def _free_port() -> Iterator[int]:
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def _wait_for(process: subprocess.Popen[bytes], ports: Sequence[int]) -> None:
    for port in ports:
        while True:
            assert process.poll() is None, "nginx has ended"
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except ConnectionRefusedError:
                continue
