"""Peers that are servers: start one, speak with it, end it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from edge_asr.settings import EngineSettings
from edge_asr.store.inspect import inspect_model
from edge_asr.store.store import InstalledModel
from tools.peers_bench.adapters.commands import sherpa_options
from tools.peers_bench.adapters.conversation import Codec, NativeCodec, Session, SherpaCodec, converse
from tools.peers_bench.peer import Ability, Decoded, Heard, PeerFailed
from tools.peers_bench.recordings import Recording
from tools.peers_bench.steps import FRAME_SAMPLES, StepTiming

COMES_UP_S = 120.0
MOST_SESSIONS = 1024


@dataclass(frozen=True, slots=True)
class ServerPeer:
    """A server, and how one speaks with it."""

    name: str
    command: Callable[[InstalledModel, int], list[str]]
    """From the model and a port that is free."""
    is_ready: re.Pattern[str]
    """What its log says when it listens and its model is loaded."""
    codec: Callable[[StepTiming], Codec]
    environment: Mapping[str, str] = field(default_factory=dict)
    abilities: frozenset[Ability] = field(default=frozenset(("listen", "streams")))

    @contextmanager
    def start(self, model: InstalledModel | None) -> Iterator[RunningServer]:
        """Start it on a free port.

        Raises:
            PeerFailed: It did not come up.
        """
        assert model is not None
        port = free_port()
        timing = step_timing(model)
        with subprocess.Popen(
            self.command(model, port),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | dict(self.environment),
        ) as process:
            log = _Log(process)
            try:
                log.wait_for(self.is_ready, self.name)
                yield RunningServer(process.pid, f"ws://127.0.0.1:{port}", lambda: self.codec(timing), timing)
            finally:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    process.kill()
                log.join()


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server with its model loaded."""

    pid: int
    url: str
    codec: Callable[[], Codec]
    timing: StepTiming

    def decode(self, recording: Recording) -> Decoded:
        raise NotImplementedError(f"servers are measured at live pace: {recording.name}")

    def listen(self, recording: Recording) -> Heard:
        session = asyncio.run(self.converse([recording], time.monotonic_ns()))
        return Heard(session.flush_s, session.late_s, session.text)

    async def converse(self, recordings: Sequence[Recording], start_ns: int) -> Session:
        """One session of several recordings in a row."""
        return await converse(self.url, self.codec(), recordings, start_ns)


class _Log:
    """A process's standard error, read to its end."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._text = ""
        self._grown = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def wait_for(self, pattern: re.Pattern[str], name: str) -> None:
        with self._grown:
            self._grown.wait_for(lambda: pattern.search(self._text) or not self._thread.is_alive(), COMES_UP_S)
            if not pattern.search(self._text):
                raise PeerFailed(f"{name} did not come up: {self._text[-600:]}")

    def join(self) -> None:
        self._thread.join(timeout=20)

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with self._grown:
                self._text += line
                self._grown.notify_all()
        with self._grown:
            self._grown.notify_all()


def step_timing(model: InstalledModel) -> StepTiming:
    """Chunk and window of a streaming model; zeros for others."""
    report = inspect_model(model.directory, model.manifest)
    frame_ms = 1000 * FRAME_SAMPLES / 16_000
    chunk = round(report.chunk_ms / frame_ms)
    return StepTiming(chunk, chunk + round(report.lookahead_ms / frame_ms))


def edge_asr_daemon() -> ServerPeer:
    """``edge-asr serve`` with its defaults, but for its bounds on sessions."""
    padding_samples = EngineSettings().left_padding_ms * 16
    return ServerPeer(
        name="edge-asr daemon",
        command=lambda model, port: [
            *(sys.executable, "-m", "edge_asr", "serve", "-m", str(model.directory)),
            *("--port", str(port), "--wyoming", "off"),
        ],
        is_ready=re.compile(r"\bready:"),
        codec=lambda timing: NativeCodec(timing.chunk_s, padding_samples),
        # What it carries is to be found out here, not what it believes to carry.
        environment={"EDGE_ASR_LIMITS_MAX_SESSIONS": str(MOST_SESSIONS), "EDGE_ASR_ADMISSION_ENABLED": "false"},
    )


def sherpa_server(program: Path) -> ServerPeer:
    """``sherpa-onnx-online-websocket-server`` with its defaults: three work threads, batches of five."""
    return ServerPeer(
        name="sherpa-onnx websocket server",
        command=lambda model, port: [
            *(str(program), f"--port={port}", "--log-file=/dev/null"),
            *sherpa_options(model),
        ],
        is_ready=re.compile(r"Listening on"),
        codec=lambda _timing: SherpaCodec(),
    )


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
