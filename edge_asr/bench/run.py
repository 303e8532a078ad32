"""Running a bench: every measurement in a fresh process, repetitions interleaved, the machine watched meanwhile."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import msgspec

from edge_asr.bench.child import Outcome, Task, now_ns
from edge_asr.bench.conditions import ConditionsRecorder, RunEvents, condition_figures, violations
from edge_asr.bench.document import Configuration, OperatorTime, Result, Run, Stages
from edge_asr.bench.figures import figures_of
from edge_asr.engines.trial import death_of
from edge_asr.errors import EdgeAsrError, MachineError, error_of
from edge_asr.workers.command import worker_environment

LOAD_TIMEOUT_S = 600.0
"""Loading and warming up; a slow board with a cold SD card needs minutes."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One measurement of the bench."""

    order: int
    repetition: int
    configuration: int
    """Index."""


def interleaved(configurations: int, repetitions: int, seed: int) -> list[Turn]:
    """Every configuration once per repetition, in a new order each time, so that drift hits all of them alike."""
    draw = random.Random(seed)  # noqa: S311  an order that can be repeated, no secret
    turns: list[Turn] = []
    for repetition in range(repetitions):
        indices = list(range(configurations))
        draw.shuffle(indices)
        turns += [Turn(len(turns) + place, repetition, index) for place, index in enumerate(indices)]
    return turns


@dataclass(frozen=True, slots=True)
class Bench:
    """What is to be measured."""

    tasks: Sequence[Task]
    """One per configuration."""
    repetitions: int
    seed: int
    metric: str = "wer"
    profiles_operators: bool = False
    malloc_arenas: int = 1


Progress = Callable[[int, int, Configuration], None]
"""Called before each measurement: its number, how many there are, and what is measured."""


@dataclass(frozen=True, slots=True)
class BenchOutcome:
    """What was measured."""

    results: list[Result]
    is_interrupted: bool
    """The user did not wait for the rest."""


def run_bench(bench: Bench, progress: Progress) -> BenchOutcome:
    """Measure everything; a configuration that cannot be measured becomes a result with an error.

    A configuration that failed once is not tried again. An interruption ends the measuring, and what was measured
    before is kept.
    """
    is_interrupted = False
    runs: list[list[Run]] = [[] for _ in bench.tasks]
    errors = ["" for _ in bench.tasks]
    turns = interleaved(len(bench.tasks), bench.repetitions, bench.seed)
    for turn in turns:
        task = bench.tasks[turn.configuration]
        if errors[turn.configuration]:
            continue
        progress(turn.order, len(turns), task.configuration)
        try:
            run = measure_once(msgspec.structs.replace(task, is_cold=turn.repetition == 0), bench.malloc_arenas)
        except EdgeAsrError as error:
            errors[turn.configuration] = str(error)
        except KeyboardInterrupt:
            is_interrupted = True
            break
        else:
            runs[turn.configuration].append(msgspec.structs.replace(run, repetition=turn.repetition, order=turn.order))
    wishes = replace(bench, profiles_operators=bench.profiles_operators and not is_interrupted)
    results = [_result(wishes, task, done, error) for task, done, error in zip(bench.tasks, runs, errors, strict=True)]
    return BenchOutcome(results, is_interrupted)


def measure_once(task: Task, malloc_arenas: int = 1) -> Run:
    """One run in a process of its own, with what the machine was like.

    Raises:
        EdgeAsrError: What the process could not do, or how it died before it had measured anything.
    """
    recorder = ConditionsRecorder()
    with _child(task, malloc_arenas) as child:
        child.wait_until_ready()
        recorder.start()
        try:
            outcome = child.go(_time_allowed_s(task))
        finally:
            record = recorder.stop()
    if outcome.run is None:
        raise error_of(outcome.code, outcome.message)
    run = outcome.run
    chunks = run.chunks
    events = RunEvents(
        provider_requested=task.configuration.provider,
        provider_used=run.provider,
        feeder_jitter_ms=max(chunks.jitter_ms, default=0.0) if chunks else 0.0,
        chunk_ms=(chunks.chunk_ms or task.configuration.piece_ms) if chunks else 0.0,
    )
    figures = condition_figures(record.before, record.samples, record.after, events)
    return msgspec.structs.replace(
        run,
        conditions=msgspec.to_builtins(figures),
        violations=violations(record.before, record.samples, record.after, events),
    )


def profile_operators(task: Task, malloc_arenas: int = 1) -> Outcome:
    """Trace the operators of a model in a process of its own.

    Raises:
        EdgeAsrError: As for :func:`measure_once`.
    """
    with _child(msgspec.structs.replace(task, wants_profile=True), malloc_arenas) as child:
        outcome = child.outcome(LOAD_TIMEOUT_S)
    if outcome.code:
        raise error_of(outcome.code, outcome.message)
    return outcome


def _result(bench: Bench, task: Task, runs: list[Run], error: str) -> Result:
    operators: tuple[OperatorTime, ...] = ()
    if runs and not error and task.configuration.mode == "throughput" and bench.profiles_operators:
        try:
            profiled = profile_operators(task, bench.malloc_arenas)
        except EdgeAsrError as problem:
            error = f"the operators could not be profiled: {problem}"
        else:
            operators = profiled.operators
            runs = [_with_split(run, profiled.encoder_share) for run in runs]
    return Result(
        configuration=task.configuration,
        runs=tuple(runs),
        figures=figures_of(task.configuration, runs, bench.metric),
        operators=operators,
        error=error,
    )


def _with_split(run: Run, encoder_share: float | None) -> Run:
    if run.stages is None or encoder_share is None:
        return run
    encoder_s = run.stages.model_s * encoder_share
    stages: Stages = msgspec.structs.replace(run.stages, encoder_s=encoder_s, decoder_s=run.stages.model_s - encoder_s)
    return msgspec.structs.replace(run, stages=stages)


def _time_allowed_s(task: Task) -> float:
    """Ten times what a run takes that just keeps up; beyond that it hangs."""
    return 120.0 + 10.0 * max(task.seconds, task.least_audio_s)


class _Child:
    """The measuring process, spoken to in lines."""

    def __init__(self, task: Task, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self._task = task
        self._process = process
        self._errors = errors

    def wait_until_ready(self) -> None:
        line = self._line(LOAD_TIMEOUT_S)
        if line.strip() != b"ready":
            outcome = msgspec.json.decode(line, type=Outcome)
            raise error_of(outcome.code, outcome.message)

    def go(self, timeout_s: float) -> Outcome:
        _questions(self._process).write(b"\n")
        _questions(self._process).flush()
        return self.outcome(timeout_s)

    def outcome(self, timeout_s: float) -> Outcome:
        return msgspec.json.decode(self._line(timeout_s), type=Outcome)

    def _line(self, timeout_s: float) -> bytes:
        """The next line of the process, which is ended when it takes too long."""
        if self._process.stdout is None:
            raise RuntimeError("the measuring process was started without a pipe for its answers")
        overdue = threading.Timer(timeout_s, self._process.kill)
        overdue.start()
        try:
            line = self._process.stdout.readline()
        finally:
            is_overdue = not overdue.is_alive()
            overdue.cancel()
        if line:
            return line
        name = self._task.configuration.model
        if is_overdue:
            raise MachineError(f"measuring {name!r} took longer than {timeout_s:.0f} s and was given up")
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace")
        raise death_of(name, self._task.configuration.provider, self._process.wait(), said)


@contextmanager
def _child(task: Task, malloc_arenas: int) -> Iterator[_Child]:
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "edge_asr.bench.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=worker_environment(os.environ, malloc_arenas),
            cwd=Path.cwd(),
        )
        try:
            stamped = msgspec.structs.replace(task, spawned_ns=now_ns())
            _questions(process).write(msgspec.json.encode(stamped) + b"\n")
            _questions(process).flush()
            yield _Child(task, process, errors)
        finally:
            process.kill()
            process.communicate()


def _questions(process: subprocess.Popen[bytes]) -> IO[bytes]:
    if process.stdin is None:
        raise RuntimeError("the measuring process was started without a pipe for its task")
    return process.stdin
