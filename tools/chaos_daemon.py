"""The daemon that is broken: ``edge-asr serve`` as a process, with its defaults and room for the attackers."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "models" / "starter-en"

ROOM = {
    "EDGE_ASR_LIMITS_MAX_SESSIONS": "48",
    "EDGE_ASR_ADMISSION_ENABLED": "false",
    "EDGE_ASR_LIMITS_IDLE_TIMEOUT_S": "20",
}
"""Sessions of attackers must not be refused for those of the clients, nor the clients for a machine that is busy."""


class Daemon:
    """``edge-asr serve`` on free ports.

    Args:
        disk: Folder that holds its model and what it spools.
        environment: Beside that of this process.
        keep_log: File to which its log is written while it runs.
    """

    def __init__(self, disk: Path, environment: Mapping[str, str], keep_log: Path | None = None) -> None:
        self._kept = (keep_log or Path(os.devnull)).open("w", encoding="utf-8", buffering=1)
        self.model = disk / "model"
        shutil.copytree(MODEL, self.model)
        spool = disk / "spool"
        spool.mkdir()
        served = environment.get("EDGE_ASR_MODEL") or str(self.model)
        self.admin_socket = disk.parent / "admin.sock"
        command = [sys.executable, "-m", "edge_asr", "serve", "-m", served, "--port", "0"]
        self._process = subprocess.Popen(
            [*command, "--wyoming", "tcp://127.0.0.1:0"],
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                **ROOM,
                "CACHE_DIRECTORY": str(spool),
                "EDGE_ASR_SERVER_ADMIN_SOCKET": str(self.admin_socket),
                **environment,
            },
        )
        self.log: list[str] = []
        self.http, self.wyoming_port = "", 0
        self._read_addresses()
        while not self.is_ready():
            time.sleep(0.1)

    @property
    def websocket(self) -> str:
        """URL of the native protocol."""
        return f"{self.http.replace('http', 'ws')}/v1/stream"

    @property
    def pid(self) -> int:
        """Of the front process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def status(self) -> dict[str, Any]:
        """Its own words."""
        with urllib.request.urlopen(f"{self.http}/status", timeout=10) as answer:
            document: dict[str, Any] = json.load(answer)
            return document

    def counted(self, name: str) -> float:
        """A counter of ``/metrics``, all its labels together; it goes on when a worker is replaced.

        Args:
            name: Without ``_total``.
        """
        with urllib.request.urlopen(f"{self.http}/metrics", timeout=5) as answer:
            families = list(text_string_to_metric_families(answer.read().decode()))
        (family,) = (family for family in families if family.name == name)
        return sum(sample.value for sample in family.samples if sample.name == f"{name}_total")

    def wait_for_worker(self) -> int:
        """Process id of a worker that serves, once there is one."""
        while (status := self.status())["state"] != "ready":
            time.sleep(0.1)
        return int(status["worker_pid"])

    def is_alive(self, pid: int) -> bool:
        """Whether there is such a process."""
        return Path(f"/proc/{pid}/stat").exists()

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.http}/health/ready", timeout=10) as answer:
                return bool(answer.status == 200)
        except urllib.error.HTTPError:
            if not self.is_running:
                raise SystemExit(f"the daemon ended:\n{''.join(self.log)}") from None
            return False

    def drain_log(self) -> None:
        """Read on, or the pipe fills; returns when the daemon has ended."""
        stream = self._process.stderr
        while stream is not None and (line := stream.readline()):
            self._note(line)
        self._kept.close()

    def stop(self) -> int:
        """End it; its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(30)

    def memory_bytes(self) -> dict[str, int]:
        """Resident memory of front and worker."""
        pids = {"front": self.pid, "worker": int(self.status()["worker_pid"])}
        return {name: _resident_bytes(pid) for name, pid in pids.items()}

    def descriptors(self) -> int:
        """Files and sockets that the front has open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))  # noqa: PTH208  names are all that is wanted

    def _note(self, line: str) -> None:
        self.log.append(line)
        self._kept.write(line)

    def _read_addresses(self) -> None:
        stream = self._process.stderr
        while stream is not None and (line := stream.readline()):
            self._note(line)
            if found := re.search(r"http://[\d.]+:\d+", line):
                self.http = found[0]
            if found := re.search(r"tcp://[\d.]+:(\d+)", line):
                self.wyoming_port = int(found[1])
            if self.http and self.wyoming_port:
                return
        raise SystemExit(f"the daemon did not start:\n{''.join(self.log)}")


def _resident_bytes(pid: int) -> int:
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    found = re.search(r"VmRSS:\s+(\d+)", text)
    return 1024 * int(found[1]) if found else 0
