"""A daemon with all its doors on free ports, and what it holds open."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PATIENCE_S = 60.0


class Daemon:
    """Runs until :meth:`stop`; its log is kept."""

    def __init__(self, model: str) -> None:
        http, wyoming, vosk, sherpa = _free_ports(4)
        self.http = f"http://127.0.0.1:{http}"
        self.wyoming_port = wyoming
        self.vosk = f"ws://127.0.0.1:{vosk}"
        self.sherpa_port = sherpa
        command = [sys.executable, "-m", "edge_asr", "serve", "-m", model, "--port", str(http)]
        command += ["--wyoming", f"tcp://127.0.0.1:{wyoming}", "--vosk-port", str(vosk), "--sherpa-port", str(sherpa)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.log: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.wait_until(self._is_ready, "the daemon is ready")

    @property
    def websocket(self) -> str:
        """Base address of the websocket paths."""
        return self.http.replace("http", "ws", 1)

    @property
    def sherpa(self) -> str:
        """Address of the port for sherpa-onnx's protocols."""
        return f"ws://127.0.0.1:{self.sherpa_port}"

    def status(self) -> dict[str, Any]:
        """The document of ``/status``."""
        with urllib.request.urlopen(f"{self.http}/status") as answer:
            document: dict[str, Any] = json.load(answer)
            return document

    def wait_until_idle(self) -> None:
        """Until no session is left: what a client that is gone had must be free at once."""
        self.wait_until(lambda: self.status()["sessions"] == 0, "all sessions have ended")

    def wait_until(self, is_so: Callable[[], bool], what: str) -> None:
        """Ask ten times a second."""
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise SystemExit(f"not within {PATIENCE_S:.0f} s: {what}\n{''.join(self.log[-20:])}")
            time.sleep(0.1)

    def descriptors(self) -> int:
        """Files and sockets that the front process holds open."""
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/fd").iterdir())

    def memory_bytes(self) -> int:
        """Resident memory of front and worker."""
        pids = (self.process.pid, self.status()["worker_pid"])
        return sum(_resident_bytes(pid) for pid in pids)

    def stop(self) -> None:
        """SIGTERM, and wait."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE_S)
        self._reader.join(timeout=PATIENCE_S)
        if self.process.stderr is not None:
            self.process.stderr.close()

    def _is_ready(self) -> bool:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.http}/health/ready") as answer:
            return bool(answer.status == 200)
        return False

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.log.extend(self.process.stderr)


@contextlib.contextmanager
def running(model: str) -> Iterator[Daemon]:
    """A daemon that is stopped at the end."""
    daemon = Daemon(model)
    try:
        yield daemon
    finally:
        daemon.stop()


def host_and_port(url: str) -> tuple[str, int]:
    """Of an address."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or 0


def _free_ports(count: int) -> list[int]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def _resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
