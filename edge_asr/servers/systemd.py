"""Tells systemd how the daemon is doing: one datagram per message to ``$NOTIFY_SOCKET``, as ``sd_notify(3)`` says."""

from __future__ import annotations

import contextlib
import socket


class Notifier:
    """Sends state to the service manager; does nothing when there is none."""

    def __init__(self, address: str) -> None:
        """Send to this unix socket; a leading ``@`` means the abstract namespace, empty means nobody listens."""
        self._address = f"\0{address[1:]}" if address.startswith("@") else address

    def ready(self, status: str) -> None:
        """The start is over: sessions can be opened."""
        self._send(f"READY=1\nSTATUS={status}")

    def status(self, status: str) -> None:
        """One line for ``systemctl status``."""
        self._send(f"STATUS={status}")

    def starting(self, status: str, at_most_s: float) -> None:
        """The start goes on, and may take so long from now, whatever the unit says."""
        self._send(f"STATUS={status}\n{_extension(at_most_s)}")

    def stopping(self, status: str, at_most_s: float) -> None:
        """The daemon drains, which may take so long from now, whatever the unit says."""
        self._send(f"STOPPING=1\nSTATUS={status}\n{_extension(at_most_s)}")

    def watchdog(self) -> None:
        """Still alive."""
        self._send("WATCHDOG=1")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        # A manager that does not listen is no reason to stop serving.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.setblocking(False)
            notify.sendto(message.encode(), self._address)


def _extension(at_most_s: float) -> str:
    return f"EXTEND_TIMEOUT_USEC={round(at_most_s * 1e6)}"
