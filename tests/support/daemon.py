"""``python -m edge_asr serve`` as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

CLIPS = Path(__file__).parents[2] / "edge_asr" / "clips"


class DaemonProcess:
    """The daemon on free ports, with the bundled model unless told otherwise."""

    def __init__(self, *options: str, **environment: str) -> None:
        command = [sys.executable, "-m", "edge_asr", "serve", "--port", "0", "--wyoming", "tcp://127.0.0.1:0", *options]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | environment
        )
        self._lines: list[str] = []
        self._has_line = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> Self:
        try:
            self.wait_for("serving")
        except AssertionError:
            self.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def log(self) -> str:
        """Standard error so far."""
        return "".join(self._lines)

    @property
    def http(self) -> str:
        """Base address of the HTTP door."""
        return self._address("http")

    @property
    def wyoming(self) -> str:
        """URI of the Wyoming door."""
        return self._address("tcp")

    @property
    def descriptors(self) -> int:
        """Files that the front process has open."""
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/fd").iterdir())

    def wait_for(self, word: str) -> None:
        """Until the log has this word, or the process has ended."""
        with self._has_line:
            self._has_line.wait_for(lambda: word in self.log or not self._reader.is_alive(), timeout=60)
        assert word in self.log, f"{word!r} is not in:\n{self.log}"

    def stop(self) -> int:
        """SIGTERM; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        """End it without a word, if it has not ended yet."""
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        code = self.process.wait(timeout=60)
        self._reader.join()
        for stream in (self.process.stderr, self.process.stdout):
            if stream is not None:
                stream.close()
        return code

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._has_line:
                self._lines.append(line)
                self._has_line.notify_all()
        with self._has_line:
            self._has_line.notify_all()

    def _address(self, scheme: str) -> str:
        found = re.search(rf"listening at ({scheme}://\S+)", self.log)
        assert found is not None, self.log
        return found[1]
