"""``python -m edge_asr.bench.child``: one measurement in a process of its own.

Standard input brings a :class:`Task` as one line of JSON, and later an empty line that says go; standard output gets a
line when everything is loaded and warm, and one with the outcome. Order matters: the process pins itself before it
imports anything that makes threads, as the daemon's worker does.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from edge_asr.bench.document import Configuration, OperatorTime, ProductTime, Run
from edge_asr.errors import EdgeAsrError
from edge_asr.resources.affinity import pin_to
from edge_asr.workers.messages import Configure

if TYPE_CHECKING:
    from edge_asr.engines.instruments import Instruments
    from edge_asr.workers.loaded_model import LoadedModel

    Loader = Callable[[Configure, Instruments], LoadedModel]

STANDARD_LOADER = "edge_asr.workers.loading:load_model"
"""``module:function`` that is called with the task's ``Configure`` and the instruments."""

_STDOUT, _STDERR = 1, 2


class ClipTask(msgspec.Struct, frozen=True, kw_only=True):
    """A recording to listen to."""

    name: str
    path: str
    reference: str = ""
    vocabulary: str = "open"
    words: tuple[tuple[str, float, float], ...] = ()


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What the process is to do."""

    configure: Configure
    configuration: Configuration
    clips: tuple[ClipTask, ...]
    language: str = "en"
    seconds: float = 60.0
    """Paced mode: how long listeners go on beginning recordings."""
    least_audio_s: float = 60.0
    """Throughput mode: audio decoded, all streams."""
    clips_s: float = 0.0
    """Length of all recordings together."""
    most_s: float | None = None
    """Throughput mode: nothing is begun after so much time, however little was decoded."""
    warm_up_s: float = 10.0
    most_warm_up_s: float = 60.0
    idle_s: float = 0.0
    """Paced mode: silence listened to before, to see what an idle session costs; 0 for none."""
    is_cold: bool = False
    """Drop the model's files from the system's memory before loading them."""
    wants_profile: bool = False
    """Trace operators in place of measuring."""
    sample_every_s: float = 1.0
    """Between two readings of memory, processor time and temperature."""
    loader: str = STANDARD_LOADER
    spawned_ns: int = 0


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of it."""

    run: Run | None = None
    operators: tuple[OperatorTime, ...] = ()
    products: tuple[ProductTime, ...] = ()
    encoder_share: float | None = None
    """Of the time inside ``decode``, from the profile."""
    code: str = ""
    message: str = ""


def main() -> None:
    """The process."""
    answers = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)  # whatever native code prints must not mix with the answers
    with os.fdopen(answers, "wb") as answer:
        task = msgspec.json.decode(sys.stdin.buffer.readline(), type=Task)
        try:
            outcome = _carry_out(task, sys.stdin.buffer, answer)
        except EdgeAsrError as error:
            outcome = Outcome(code=error.code, message=str(error))
        answer.write(msgspec.json.encode(outcome) + b"\n")
    sys.stderr.flush()
    os._exit(0)  # native thread pools can hang the interpreter's own way out


def _carry_out(task: Task, questions: BinaryIO, answer: BinaryIO) -> Outcome:
    if task.configuration.cpus:
        pin_to(task.configuration.cpus)
    # Only now: these import numpy.
    from edge_asr.bench import measurement

    load: Any = _loader(task.loader)
    if task.wants_profile:
        return measurement.profile(task, load)
    if task.is_cold:
        _forget_files(Path(task.configure.model_directory))
    prepared = measurement.prepare(task, load)
    answer.write(b"ready\n")
    answer.flush()
    questions.readline()
    return Outcome(run=measurement.measure(task, prepared))


def _loader(name: str) -> Loader:
    module, _, function = name.partition(":")
    loader: Loader = getattr(importlib.import_module(module), function)
    return loader


def _forget_files(directory: Path) -> None:
    """Ask the kernel to drop the cached pages of a model (``posix_fadvise(2)``, POSIX_FADV_DONTNEED)."""
    for path in directory.iterdir():
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)


def now_ns() -> int:
    """The clock of everything, for the parent to stamp a task with."""
    return time.monotonic_ns()


if __name__ == "__main__":
    main()
