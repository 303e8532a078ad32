"""Running a bench: every measurement in a fresh process, repetitions interleaved, the machine watched meanwhile."""

from __future__ import annotations

import contextlib
import os
import random
import signal
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
from edge_asr.bench.document import Chunks, Configuration, Result, Run, Stages
from edge_asr.bench.drift import drifts_of
from edge_asr.bench.figures import figures_of
from edge_asr.bench.rig import SOAK_FROM_S, SOAK_STEPS
from edge_asr.engines.trial import death_of
from edge_asr.errors import EdgeAsrError, MachineError, error_of
from edge_asr.scoring import metric_of
from edge_asr.statistics import Percentile, percentile
from edge_asr.workers.command import worker_environment

_TRACEBACK = "Traceback (most recent call last)"

LOAD_TIMEOUT_S = 600.0
"""Loading and warming up; a slow board with a cold SD card needs minutes."""


LAST_RECORDING_TIMEOUT_S = 300.0
"""For a recording that was begun when the user interrupted."""


PASSING = frozenset({"foreign_load", "stolen_time", "swapped_in", "feeder_late"})
"""Violations that the neighbours of a run are to blame for, and that may be gone the next minute."""


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
    profiles_operators: bool = False
    malloc_arenas: int = 1
    second_tries: int = 0
    """How many disturbed runs of a configuration are set aside and measured again."""


class SoakInterrupted(KeyboardInterrupt):
    """The user did not wait for the end of a soak; what was measured until then is not lost."""

    def __init__(self, run: Run) -> None:
        self.run = run
        super().__init__("interrupted")


Progress = Callable[[int, int, Configuration], None]
"""Called before each measurement: its number, how many there are, and what is measured."""

OnSetAside = Callable[[Configuration, Run], None]
"""Called with each run that was disturbed, before it is measured again."""


@dataclass(frozen=True, slots=True)
class BenchOutcome:
    """What was measured."""

    results: list[Result]
    is_interrupted: bool
    """The user did not wait for the rest."""


def _unsaid(_configuration: Configuration, _run: Run) -> None:
    """Nobody wants to know before the end."""


def run_bench(
    bench: Bench,
    progress: Progress,
    measure: Callable[[Task, int], Run] | None = None,
    on_set_aside: OnSetAside = _unsaid,
) -> BenchOutcome:
    """Measure everything; a configuration that cannot be measured becomes a result with an error.

    A configuration that failed once is not tried again. An interruption ends the measuring, and what was measured
    before is kept.

    Args:
        bench: What is to be measured.
        progress: Told of each measurement.
        measure: A task, the malloc arenas of its process → its run; :func:`measure_once` by default.
        on_set_aside: Told of each disturbed run that is measured again.
    """
    measure = measure or measure_once
    is_interrupted = False
    runs: list[list[Run]] = [[] for _ in bench.tasks]
    set_aside: list[list[Run]] = [[] for _ in bench.tasks]
    errors: list[EdgeAsrError | None] = [None for _ in bench.tasks]
    turns = interleaved(len(bench.tasks), bench.repetitions, bench.seed)
    for turn in turns:
        task = bench.tasks[turn.configuration]
        if errors[turn.configuration]:
            continue
        try:
            progress(turn.order, len(turns), task.configuration)
            placed = msgspec.structs.replace(task, is_cold=turn.repetition == 0)
            aside = set_aside[turn.configuration]
            run = measure(placed, bench.malloc_arenas)
            while is_worth_another_try(run) and len(aside) < bench.second_tries:
                aside.append(_placed(run, turn))
                on_set_aside(task.configuration, run)
                progress(turn.order, len(turns), task.configuration)
                run = measure(placed, bench.malloc_arenas)
        except EdgeAsrError as error:
            errors[turn.configuration] = error
        except SoakInterrupted as interruption:
            runs[turn.configuration].append(_placed(interruption.run, turn))
            is_interrupted = True
            break
        except KeyboardInterrupt:
            is_interrupted = True
            break
        else:
            runs[turn.configuration].append(_placed(run, turn))
    wishes = replace(bench, profiles_operators=bench.profiles_operators and not is_interrupted)
    results = [
        msgspec.structs.replace(_result(wishes, task, done, error), set_aside=tuple(aside))
        for task, done, error, aside in zip(bench.tasks, runs, errors, set_aside, strict=True)
    ]
    return BenchOutcome(results, is_interrupted)


def is_worth_another_try(run: Run) -> bool:
    """Whether nothing but the neighbours disturbed it. Heat, power and a provider that fell back would do it again."""
    return bool(run.violations) and all(violation.code in PASSING for violation in run.violations)


def _placed(run: Run, turn: Turn) -> Run:
    return msgspec.structs.replace(run, repetition=turn.repetition, order=turn.order)


def measure_once(
    task: Task,
    malloc_arenas: int = 1,
    *,
    root: Path = Path("/"),
    load_timeout_s: float = LOAD_TIMEOUT_S,
    run_timeout_s: float | None = None,
) -> Run:
    """One run in a process of its own, with what the machine was like.

    Args:
        task: What is measured.
        malloc_arenas: Of the process.
        root: Where the conditions are read.
        load_timeout_s: For loading and warming up.
        run_timeout_s: For the measured part; by default ten times what a run takes that just keeps up.

    Raises:
        EdgeAsrError: What the process could not do, or how it died before it had measured anything.
        SoakInterrupted: The user interrupted a long run; it brings what was measured.
    """
    is_interrupted = False
    recorder = ConditionsRecorder(_conditions_interval_s(task), root)
    with _child(task, malloc_arenas) as child:
        child.wait_until_ready(load_timeout_s)
        recorder.start()
        try:
            outcome = child.go(time_allowed_s(task) if run_timeout_s is None else run_timeout_s)
        except KeyboardInterrupt:
            if not _is_soak(task):
                raise
            is_interrupted = True
            outcome = child.stop()
        finally:
            record = recorder.stop()
    if outcome.run is None:
        raise error_of(outcome.code, outcome.message)
    run = outcome.run
    chunks = run.chunks
    events = RunEvents(
        provider_requested=task.configuration.provider,
        provider_used=run.provider,
        feeder_jitter_ms=_jitter_ms(chunks) if chunks else 0.0,
        chunk_ms=(chunks.chunk_ms or task.configuration.piece_ms) if chunks else 0.0,
    )
    figures = condition_figures(record.before, record.samples, record.after, events)
    judged = msgspec.structs.replace(
        run,
        conditions=msgspec.to_builtins(figures),
        violations=violations(record.before, record.samples, record.after, events),
    )
    if is_interrupted:
        raise SoakInterrupted(judged)
    return judged


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


def _result(bench: Bench, task: Task, runs: list[Run], error: EdgeAsrError | None) -> Result:
    profiled = Outcome()
    sentence = str(error) if error else ""
    if runs and not error and task.configuration.mode == "throughput" and bench.profiles_operators:
        try:
            profiled = profile_operators(task, bench.malloc_arenas)
        except EdgeAsrError as problem:
            error, sentence = problem, f"the operators could not be profiled: {problem}"
        else:
            runs = [_with_split(run, profiled.encoder_share) for run in runs]
    return Result(
        configuration=task.configuration,
        runs=tuple(runs),
        figures=figures_of(task.configuration, runs, metric_of(task.language)),
        operators=profiled.operators,
        products=profiled.products,
        error=sentence,
        error_code=error.code if error else "",
        drifts=drifts_of(runs),
    )


def _with_split(run: Run, encoder_share: float | None) -> Run:
    if run.stages is None or encoder_share is None:
        return run
    encoder_s = run.stages.model_s * encoder_share
    stages: Stages = msgspec.structs.replace(run.stages, encoder_s=encoder_s, decoder_s=run.stages.model_s - encoder_s)
    return msgspec.structs.replace(run, stages=stages)


def time_allowed_s(task: Task) -> float:
    """Ten times what a run takes that just keeps up; beyond that it hangs."""
    # As fast as possible, every stream hears all recordings, however many there are.
    pass_s = task.clips_s * task.configuration.streams if task.configuration.mode == "throughput" else 0.0
    return 120.0 + 10.0 * max(task.seconds, task.least_audio_s, pass_s)


def _is_soak(task: Task) -> bool:
    return max(task.seconds, task.least_audio_s) > SOAK_FROM_S


def _conditions_interval_s(task: Task) -> float:
    """A second, or for a soak so much that a thousand readings last for it."""
    return max(1.0, max(task.seconds, task.least_audio_s) / 1000)


def _jitter_ms(chunks: Chunks) -> float:
    """What the run is judged by: the latest wake-up, or of a soak that of 99 in 100.

    In hours every system is late once; a soak looks for drift, on which one piece in a hundred has no influence.
    """
    if chunks.jitter_max_ms is not None and len(chunks.jitter_ms) >= SOAK_STEPS:
        found = percentile(chunks.jitter_ms, 99)
        return found.value if isinstance(found, Percentile) else chunks.longest_jitter_ms
    return chunks.longest_jitter_ms


class _Child:
    """The measuring process, spoken to in lines."""

    def __init__(self, task: Task, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self._task = task
        self._process = process
        self._errors = errors

    def wait_until_ready(self, timeout_s: float) -> None:
        line = self._line(timeout_s)
        if line.strip() != b"ready":
            outcome = msgspec.json.decode(line, type=Outcome)
            raise error_of(outcome.code, outcome.message)

    def go(self, timeout_s: float) -> Outcome:
        _tell(self._process, b"\n")
        return self.outcome(timeout_s)

    def stop(self) -> Outcome:
        """Let it end early; it has the terminal's signal too, unless only we were interrupted."""
        self._process.send_signal(signal.SIGINT)
        return self.outcome(LAST_RECORDING_TIMEOUT_S)

    def outcome(self, timeout_s: float) -> Outcome:
        return msgspec.json.decode(self._line(timeout_s), type=Outcome)

    def _line(self, timeout_s: float) -> bytes:
        """The next line of the process, which is ended when it takes too long."""
        if self._process.stdout is None:
            raise RuntimeError("the measuring process was started without a pipe for its answers")
        is_overdue = threading.Event()

        def give_up() -> None:
            is_overdue.set()
            self._process.kill()

        timer = threading.Timer(timeout_s, give_up)
        timer.start()
        try:
            line = self._process.stdout.readline()
        finally:
            timer.cancel()
            timer.join()
        if line.endswith(b"\n"):
            return line
        name = self._task.configuration.model
        if is_overdue.is_set():
            raise MachineError(f"measuring {name!r} took longer than {timeout_s:g} s and was given up")
        status = self._process.wait()  # only then has it said everything
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace")
        raise _death_of(name, self._task.configuration.provider, status, said)


def _death_of(model: str, provider: str, status: int, said: str) -> EdgeAsrError:
    if status == 1 and _TRACEBACK in said:
        return error_of("internal", f"measuring {model!r} ended with a fault of the program: {said.splitlines()[-1]}")
    return death_of(model, provider, status, said, doing="measuring")


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
            _tell(process, msgspec.json.encode(stamped) + b"\n")
            yield _Child(task, process, errors)
        finally:
            process.kill()
            process.communicate()


def _tell(process: subprocess.Popen[bytes], line: bytes) -> None:
    if process.stdin is None:
        raise RuntimeError("the measuring process was started without a pipe for its task")
    with contextlib.suppress(BrokenPipeError):  # it has died; whoever waits for its answer finds out how
        process.stdin.write(line)
        process.stdin.flush()
