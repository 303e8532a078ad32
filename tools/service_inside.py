"""Runs inside a system under test, by its Python alone: the daemon as systemd would start it, and a client.

Standard output is what the client heard. Arguments: a JSON document with ``command``, ``user``, ``groups``, ``umask``,
``environment`` and ``client``.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

READY_S = 900
"""An emulated worker takes its time."""
END_S = 60
NOTIFY = Path("/tmp/notify")  # noqa: S108 - of the sandbox, as PrivateTmp= gives it


def main() -> None:
    service = json.loads(sys.argv[1])
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications:
        notifications.bind(str(NOTIFY))
        NOTIFY.chmod(0o777)
        daemon = start(service)
        try:
            wait_until_ready(notifications, daemon)
            heard = subprocess.run(service["client"], check=True, stdout=subprocess.PIPE, text=True).stdout
        finally:
            daemon.send_signal(signal.SIGTERM)
            status = daemon.wait(END_S)
    if status != 0:
        sys.exit(f"the daemon left with {status} when it was told to stop")
    print(heard, end="")


def start(service: dict) -> subprocess.Popen:
    environment = {"PATH": os.environ["PATH"], "NOTIFY_SOCKET": str(NOTIFY), **service["environment"]}
    return subprocess.Popen(
        service["command"],
        env=environment,
        user=service["user"],
        group=service["user"],
        extra_groups=service["groups"],
        umask=service["umask"],
        cwd="/",
    )


def wait_until_ready(notifications: socket.socket, daemon: subprocess.Popen) -> None:
    notifications.settimeout(1)
    for _ in range(READY_S):
        if daemon.poll() is not None:
            sys.exit(f"the daemon left with {daemon.returncode} before it was ready")
        try:
            if "READY=1" in notifications.recv(4096).decode().splitlines():
                return
        except TimeoutError:
            continue
    sys.exit(f"the daemon was not ready within {READY_S} s")


if __name__ == "__main__":
    main()
