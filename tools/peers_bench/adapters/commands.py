"""Peers that are programs with a file name as argument: a fresh process for each recording.

What a recording took is what the program itself says where it says it finely enough, else the life of the process
without its start. The start is seen on a tenth of a second of silence.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from edge_asr.store.store import InstalledModel
from tools.peers_bench.peer import Ability, Decoded, Heard, PeerFailed
from tools.peers_bench.recordings import Recording, silence

STARTS = 3
SHORTEST_S = 0.1

_CREATED = re.compile(r"Recognizer created in ([\d.]+) s")
_ELAPSED = re.compile(r"Elapsed seconds: ([\d.]+)")
_TEXT = re.compile(r'^\{ ?"text": "([^"]*)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Life:
    """A process from its start to its end."""

    wall_s: float
    cpu_s: float
    output: str


@dataclass(frozen=True, slots=True)
class Said:
    """What a program printed about a recording."""

    loading_s: float
    """Part of its life spent on the model; 0 where the program does not say it."""
    decoding_s: float
    text: str


@dataclass(frozen=True, slots=True)
class ProgramPeer:
    """A command line, and how its output is read."""

    name: str
    command: Callable[[InstalledModel], list[str]]
    """Everything but the recording."""
    read: Callable[[str], Said]
    """Raises ``ValueError`` for the output of a program that failed."""
    is_exact: bool
    """Whether the printed decoding time may be taken as it is; sherpa-onnx prints two digits."""
    abilities: frozenset[Ability] = field(default=frozenset(("decode",)))

    @contextmanager
    def start(self, model: InstalledModel | None) -> Iterator[RunningProgram]:
        """See what starting costs."""
        assert model is not None
        with tempfile.TemporaryDirectory() as folder:
            yield RunningProgram(self, self.command(model), silence(Path(folder), SHORTEST_S))


class RunningProgram:
    """Ready to be started for each recording."""

    def __init__(self, peer: ProgramPeer, command: list[str], short: Path) -> None:
        self.pid = os.getpid()
        self._peer = peer
        self._command = command
        starts = [self._run(short) for _ in range(STARTS)]
        self._start_wall_s = statistics.median(life.wall_s - said.loading_s - said.decoding_s for life, said in starts)
        self._start_cpu_s = statistics.median(life.cpu_s - said.decoding_s for life, said in starts)

    def decode(self, recording: Recording) -> Decoded:
        life, said = self._run(recording.path)
        wall_s = said.decoding_s if self._peer.is_exact else life.wall_s - said.loading_s - self._start_wall_s
        return Decoded(wall_s, max(0.0, life.cpu_s - self._start_cpu_s), said.text)

    def listen(self, recording: Recording) -> Heard:
        raise NotImplementedError(f"a program is not fed at live pace: {recording.name}")

    def _run(self, path: Path) -> tuple[Life, Said]:
        life = live([*self._command, str(path)])
        try:
            return life, self._peer.read(life.output)
        except ValueError as error:
            raise PeerFailed(f"{self._peer.name} failed: {life.output[-600:]}") from error


def live(command: list[str]) -> Life:
    """Run a program to its end."""
    with tempfile.TemporaryFile("w+") as said:
        started_s = time.monotonic()
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - started_s
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return Life(wall_s, used.ru_utime + used.ru_stime, said.read())


# sherpa-onnx


def sherpa_options(model: InstalledModel) -> list[str]:
    """A model's files as options of sherpa-onnx's programs; one thread is their default."""
    files = {role: model.directory / file.path for role, file in model.manifest.files.items()}
    options = [f"--tokens={files['tokens']}"]
    if "model" in files:
        options.append(f"--zipformer2-ctc-model={files['model']}")
    if "graph" in files:
        options.append(f"--ctc-graph={files['graph']}")
    return options + [f"--{role}={files[role]}" for role in ("encoder", "decoder", "joiner") if role in files]


def read_sherpa(output: str) -> Said:
    """Raises ``ValueError`` where a figure is missing."""
    created, elapsed, text = _CREATED.search(output), _ELAPSED.search(output), _TEXT.search(output)
    if created is None or elapsed is None:
        raise ValueError("no figures")
    return Said(float(created[1]), float(elapsed[1]), text[1].strip() if text else "")


def sherpa_program(program: Path) -> ProgramPeer:
    """``sherpa-onnx`` itself."""
    return ProgramPeer(
        name="sherpa-onnx program",
        command=lambda model: [str(program), *sherpa_options(model)],
        read=read_sherpa,
        is_exact=False,
    )


# edge-asr


def read_transcribe(output: str) -> Said:
    """Raises ``ValueError`` for anything but its JSON."""
    (transcript,), _ = json.JSONDecoder().raw_decode(output[output.index("[\n") :])
    return Said(0.0, transcript["rtf"] * transcript["duration_s"], transcript["text"])


def edge_asr_program() -> ProgramPeer:
    """``edge-asr transcribe``."""
    return ProgramPeer(
        name="edge-asr transcribe",
        command=lambda model: [
            *(sys.executable, "-m", "edge_asr", "transcribe", "--format", "json", "-m", str(model.directory))
        ],
        read=read_transcribe,
        is_exact=True,
    )
