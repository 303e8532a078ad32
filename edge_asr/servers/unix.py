"""Unix sockets: a door in the file system, guarded by its permissions."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

from edge_asr.errors import AddressInUse

MODE = 0o660
"""Owner and group may connect."""


def bind_unix(path: Path) -> socket.socket:
    """Bind a socket file, replacing one that a daemon left behind; nothing is accepted yet.

    Raises:
        AddressInUse: Another program answers there, or the path cannot be used.
    """
    _remove_stale(path)
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        opened.setblocking(False)
        opened.bind(str(path))
        path.chmod(MODE)
    except OSError as error:
        opened.close()
        raise AddressInUse(f"unix://{path}", error.strerror or str(error)) from error
    return opened


def remove_unix(path: Path) -> None:
    """Take the socket file away again."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _remove_stale(path: Path) -> None:
    if not path.exists():
        return
    if not path.is_socket():
        raise AddressInUse(f"unix://{path}", "a file that is not a socket stands there")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise AddressInUse(f"unix://{path}", error.strerror or str(error)) from error
        else:
            raise AddressInUse(f"unix://{path}")
