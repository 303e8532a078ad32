"""The place a daemon is broken in: a small disk of its own, no network but loopback, a wall clock that can be moved.

``unshare`` gives the process mounts and a network of its own, so that nothing here touches the machine; the wall clock
is that of libfaketime, for the daemon alone. What this machine does not allow is left out and named.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

DISK_MIB = 48
"""Room for a small model and some uploads."""

_INSIDE = "CHAOS_INSIDE"
_LIBFAKETIME = ("/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib64/faketime/libfaketime.so.1")
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1


def move_inside(words: Sequence[str]) -> bool:
    """Start this program again in namespaces of its own, if it is not there yet and the kernel allows it.

    Returns:
        Whether it is inside; does not return when it moves.
    """
    if os.environ.get(_INSIDE):
        _bring_loopback_up()
        return True
    unshare = ["unshare", "--mount", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if shutil.which("unshare") and subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode == 0:
        os.execvpe("unshare", [*unshare, sys.executable, *words], os.environ | {_INSIDE: "1"})  # noqa: S606
    return False


class Disk:
    """A small file system for the daemon's model and what it spools; a plain folder where none can be mounted."""

    def __init__(self, folder: Path, *, is_inside: bool) -> None:
        self.folder = folder
        self.is_own = is_inside and self._mount(f"size={DISK_MIB}m")

    def fill(self) -> Path:
        """Leave no byte free; the file to delete afterwards."""
        waste = self.folder / "waste"
        with waste.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            for size in (1 << 20, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while file.write(bytes(size)):
                        pass
        return waste

    def make_read_only(self, wanted: bool) -> None:
        """Forbid writing, or allow it again.

        Raises:
            OSError: Somebody is just writing to it.
        """
        command = ["mount", "-o", f"remount,{'ro' if wanted else 'rw'}", str(self.folder)]
        try:
            subprocess.run(command, check=True)
        except subprocess.CalledProcessError as error:
            raise OSError(f"{self.folder} cannot be mounted anew: {error}") from error

    def remove(self) -> None:
        """Take the file system away again."""
        if self.is_own:
            subprocess.run(["umount", str(self.folder)], check=True)

    def _mount(self, options: str) -> bool:
        command = ["mount", "-t", "tmpfs", "-o", options, "edge-asr-chaos", str(self.folder)]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0


class WallClock:
    """The daemon's wall clock, moved by a number in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._library = next(
            (str(path) for pattern in _LIBFAKETIME for path in sorted(Path("/").glob(pattern.lstrip("/")))), ""
        )
        self.jump(0)

    @property
    def can_jump(self) -> bool:
        """Whether libfaketime is installed."""
        return bool(self._library)

    @property
    def environment(self) -> Mapping[str, str]:
        """What puts a program under this clock."""
        if not self.can_jump:
            return {}
        return {
            "LD_PRELOAD": self._library,
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def jump(self, seconds: int) -> None:
        """Let it be so far from the real time."""
        self._file.write_text(f"{seconds:+d}\n", encoding="ascii")


class MemoryGroup:
    """A control group in which a process is ended by the kernel for want of memory."""

    def __init__(self) -> None:
        v1 = Path("/sys/fs/cgroup/memory")
        self._limit = "memory.limit_in_bytes" if v1.is_dir() else "memory.max"
        self._path = (v1 if v1.is_dir() else Path("/sys/fs/cgroup")) / f"edge-asr-chaos-{os.getpid()}"
        self.is_usable = self._make()

    def starve(self, pid: int) -> None:
        """Allow this process no page more; the next one it wants ends it."""
        (self._path / self._limit).write_text("65536", encoding="ascii")
        (self._path / "cgroup.procs").write_text(str(pid), encoding="ascii")

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            self._path.rmdir()

    def _make(self) -> bool:
        try:
            self._path.mkdir()
        except OSError:
            return False
        if (self._path / self._limit).exists():
            return True
        self.remove()
        return False


def _bring_loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket, contextlib.suppress(OSError):
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
