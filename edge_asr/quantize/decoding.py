"""A model that decodes in a child process: a damaged or badly quantized one ends its child and not the search."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from edge_asr.engines.trial import death_of
from edge_asr.errors import MachineError, error_of
from edge_asr.manifest import ModelManifest
from edge_asr.quantize.decoding_messages import Ready, Recognised
from edge_asr.settings import EngineSettings, Settings
from edge_asr.workers.command import worker_environment
from edge_asr.workers.configuration import pack

LOAD_TIMEOUT_S = 600.0
RECORDING_TIMEOUT_S = 1800.0
"""Beyond that a model hangs."""

_Answer = TypeVar("_Answer", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model on disk that is to be judged."""

    manifest: ModelManifest
    directory: Path


def judging_settings(settings: Settings) -> Settings:
    """Those under which every model is judged: on one thread of the CPU, with exact 8-bit products.

    Without the latter a processor that lacks VNNI saturates in products of 8-bit numbers, and its word error rate says
    nothing about a board (ONNX Runtime's ``session.x64quantprecision``).
    """
    engine: EngineSettings = replace(
        settings.engine, provider="cpu", fallback="none", threads=1, allow_spinning=False, exact_int8=True
    )
    return replace(settings, engine=engine)


class DecodingProcess:
    """A loaded model; recordings in, text out."""

    def __init__(self, candidate: Candidate, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self._candidate = candidate
        self._process = process
        self._errors = errors
        self.resident_bytes = 0
        """Memory of the process when the model was loaded."""

    def recognise(self, recording: Path) -> Recognised:
        """Text and times of one recording.

        Raises:
            ModelDamaged: The engine crashed on it, or ended the process.
            EdgeAsrError: It could not be read or decoded.
        """
        self._write(str(recording.absolute()))
        answer = self._read(Recognised, RECORDING_TIMEOUT_S)
        if answer.code:
            raise error_of(answer.code, answer.message)
        return answer

    def wait_until_ready(self) -> None:
        """Until the model is loaded; raises what loading it raised in the child."""
        answer = self._read(Ready, LOAD_TIMEOUT_S)
        if answer.code:
            raise error_of(answer.code, answer.message)
        self.resident_bytes = answer.resident_bytes

    def send(self, message: object) -> None:
        """A line to the child, which may be dead; then its last words are found when an answer is read."""
        self._write(message)

    def _write(self, message: object) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(message) + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the missing answer says it

    def _read(self, kind: type[_Answer], timeout_s: float) -> _Answer:
        assert self._process.stdout is not None
        overdue = threading.Timer(timeout_s, self._process.kill)
        overdue.start()
        try:
            line = self._process.stdout.readline()
        finally:
            is_overdue = not overdue.is_alive()
            overdue.cancel()
        if line:
            return msgspec.json.decode(line, type=kind)
        name = self._candidate.manifest.name
        if is_overdue:
            raise MachineError(f"model {name!r} did not answer for {timeout_s:.0f} s and was given up")
        returncode = self._process.wait()
        self._errors.seek(0)
        raise death_of(name, "cpu", returncode, self._errors.read().decode(errors="replace"))


@contextmanager
def decoding_process(candidate: Candidate, settings: Settings, vad_model: Path | None) -> Iterator[DecodingProcess]:
    """A child process with the model loaded, for as long as the context lasts.

    Args:
        candidate: The model.
        settings: See :func:`judging_settings`.
        vad_model: For models that do not stream.

    Raises:
        EdgeAsrError: The model cannot be loaded.
    """
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "edge_asr.quantize.decoding_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=worker_environment(os.environ, settings.worker.malloc_arenas),
        )
        try:
            child = DecodingProcess(candidate, process, errors)
            child.send(pack(candidate.directory.absolute(), settings, vad_model))
            child.wait_until_ready()
            yield child
        finally:
            process.kill()
            process.communicate()
