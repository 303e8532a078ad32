"""``edge-asr bench --url``: a running daemon through its native protocol, measured by the definitions of the bench.

The same recordings, listeners and figures as through the library, so that the two stand side by side and the cost of
the daemon itself (processes, sockets, protocol) shows. What a client cannot see has no figure: steps, their latency,
the stages. A daemon on this machine is also watched from outside: CPU time and memory of all its processes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from edge_asr.bench.conditions import ConditionsRecorder, RunEvents, condition_figures, violations
from edge_asr.bench.document import Chunks, Configuration, Figure, Mode, Result, Run, Sample, Utterance
from edge_asr.bench.drift import drifts_of
from edge_asr.bench.figures import figures_of
from edge_asr.bench.rig import MOST_SAMPLES, Notebook
from edge_asr.bench.run import Progress, interleaved
from edge_asr.bench.snapshot import Snapshot, take_snapshot
from edge_asr.bench.thinning import Thinned
from edge_asr.cli.daemon_address import DaemonAddress, parse_address
from edge_asr.cli.daemon_listeners import Company, Talk, talk_as_fast_as_possible, talk_at_live_pace
from edge_asr.cli.status_report import fetch
from edge_asr.clock import MonotonicClock
from edge_asr.errors import ConfigurationError, EdgeAsrError, MachineError
from edge_asr.resources.cpu_time import read_parent
from edge_asr.resources.processes import read_running_program
from edge_asr.scoring import metric_of
from edge_asr.workload import Clip, ClipAudio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

WARM_UP_S = 10.0
"""Audio sent before anything is measured."""

LEAST_SAMPLE_PAUSE_S = 2.0
"""Between two looks at the daemon's processes, which cost some milliseconds."""

_LOOPBACK = frozenset(("localhost", "::1"))


@dataclass(frozen=True, slots=True)
class Daemon:
    """What is measured."""

    address: DaemonAddress
    model: str
    provider: str
    threads: int
    chunk_ms: float
    tail_s: float
    load_s: float
    languages: tuple[str, ...]
    max_sessions: int
    restarts: int
    """Of its worker, so far."""
    front_pid: int | None
    """Of the process that all its others come from; ``None`` on another machine."""

    @property
    def language(self) -> str:
        """The first that the model knows."""
        return self.languages[0] if self.languages else "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How it is measured."""

    modes: Sequence[Mode]
    streams: Sequence[int]
    pieces_ms: Sequence[int]
    repetitions: int
    seconds: float
    idle_s: float
    seed: int


def find_daemon(url: str, token_file: str | None) -> Daemon:
    """Ask the daemon what it is.

    Raises:
        ConfigurationError: The URL is none, or the daemon wants another token.
        MachineError: No daemon answers there, or it has no model yet.
    """
    address = parse_address(url, ("http", "https"), token_file)
    status = fetch(url, token_file)
    ready = status["model"]
    if ready is None:
        raise MachineError(f"the daemon at {url} has no model loaded ({status['reason']}); try again in a moment")
    return Daemon(
        address=address,
        model=ready["model"],
        provider=ready["provider"],
        threads=ready["threads"],
        chunk_ms=ready["chunk_ms"],
        tail_s=ready["tail_padding_ms"] / 1000,
        load_s=ready["load_s"],
        languages=tuple(ready["languages"]),
        max_sessions=status["max_sessions"],
        restarts=status["restarts"],
        front_pid=_front_pid(address, status["worker_pid"]),
    )


def measure_daemon(
    daemon: Daemon, clips: Sequence[ClipAudio], wanted: Wanted, progress: Progress, restarts: Callable[[], int]
) -> tuple[list[Result], bool]:
    """Measure every mode, number of streams and length of piece; whether the user interrupted it.

    Args:
        daemon: What is measured.
        clips: At least one.
        wanted: How.
        progress: Called before each measurement.
        restarts: How often the daemon's worker was started again by now.

    Raises:
        ConfigurationError: More streams are wanted than the daemon takes.
    """
    if max(wanted.streams) > daemon.max_sessions:
        raise ConfigurationError(
            f"--streams {max(wanted.streams)}: the daemon takes {daemon.max_sessions} sessions; "
            "ask for less, or start it with a higher limits.max_sessions"
        )
    configurations = _configurations(daemon, wanted)
    runs: list[list[Run]] = [[] for _ in configurations]
    errors: list[EdgeAsrError | None] = [None for _ in configurations]
    turns = interleaved(len(configurations), wanted.repetitions, wanted.seed)
    is_interrupted = False
    for turn in turns:
        if errors[turn.configuration]:
            continue
        configuration = configurations[turn.configuration]
        progress(turn.order, len(turns), configuration)
        try:
            run = _measure_once(_Visit(daemon, configuration, clips, wanted), restarts)
        except EdgeAsrError as error:
            errors[turn.configuration] = error
        except KeyboardInterrupt:
            is_interrupted = True
            break
        else:
            runs[turn.configuration].append(msgspec.structs.replace(run, repetition=turn.repetition, order=turn.order))
    results = [
        Result(
            configuration=configuration,
            runs=tuple(done),
            figures=_figures(daemon, configuration, done),
            error=str(error) if error else "",
            error_code=error.code if error else "",
            drifts=drifts_of(done),
        )
        for configuration, done, error in zip(configurations, runs, errors, strict=True)
    ]
    return results, is_interrupted


def _configurations(daemon: Daemon, wanted: Wanted) -> list[Configuration]:
    return [
        Configuration(
            model=daemon.model,
            mode=mode,
            provider=daemon.provider,
            threads=daemon.threads,
            streams=streams,
            piece_ms=piece_ms,
            door="daemon",
        )
        for streams in wanted.streams
        for piece_ms in wanted.pieces_ms
        for mode in wanted.modes
    ]


@dataclass(frozen=True, slots=True)
class _Visit:
    """One run: the daemon as it is, in one configuration."""

    daemon: Daemon
    configuration: Configuration
    clips: Sequence[ClipAudio]
    wanted: Wanted

    def company(self, clips: Sequence[ClipAudio] | None = None, notebook: Notebook | None = None) -> Company:
        notes = notebook or Notebook()
        return Company(
            address=self.daemon.address,
            clips=self.clips if clips is None else clips,
            language=self.daemon.language,
            piece_ms=self.configuration.piece_ms,
            clock=MonotonicClock(),
            is_near=self.daemon.front_pid is not None,
            talk=Talk(Thinned(notes.most_utterances), Thinned(notes.most_steps)),
        )

    async def talk(self, company: Company) -> None:
        streams = self.configuration.streams
        if self.configuration.mode == "paced":
            await talk_at_live_pace(company, streams=streams, seconds=self.wanted.seconds)
        else:
            await talk_as_fast_as_possible(company, streams=streams, least_audio_s=self.wanted.seconds)

    async def be_silent(self) -> None:
        rate_hz = 16_000
        silence = np.zeros(round(self.wanted.idle_s * rate_hz), np.int16)
        company = self.company([ClipAudio(Clip("silence", Path()), silence, rate_hz, 0.0, self.wanted.idle_s)])
        streams = self.configuration.streams
        await talk_at_live_pace(company, streams=streams, seconds=self.wanted.idle_s / 2, waits_for_rule=False)


def _measure_once(visit: _Visit, restarts: Callable[[], int]) -> Run:
    daemon = visit.daemon
    warmed = visit.company()
    _run(talk_as_fast_as_possible(warmed, streams=1, least_audio_s=WARM_UP_S))
    idle_share = _idle_share(visit)
    company = visit.company(notebook=Notebook.for_run_of(visit.wanted.seconds))
    before_restarts = restarts()
    watch = _Watch(daemon.front_pid, visit.wanted.seconds)
    others = (daemon.front_pid,) if daemon.front_pid is not None else ()
    recorder = ConditionsRecorder(max(1.0, visit.wanted.seconds / 1000), other_trees=others)
    recorder.start()
    try:
        started = watch.begin()
        _run(_watched(visit.talk(company), watch, company.talk))
        ended = watch.read()
    finally:
        record = recorder.stop()
    talk = company.talk
    chunks = _chunks(daemon, talk) if visit.configuration.mode == "paced" else None
    events = RunEvents(
        provider_requested=daemon.provider,
        provider_used=daemon.provider,
        feeder_jitter_ms=talk.jitter_max_ms,
        chunk_ms=(daemon.chunk_ms or visit.configuration.piece_ms) if chunks else 0.0,
        child_exit="the daemon started its worker again" if restarts() != before_restarts else None,
    )
    return Run(
        repetition=0,
        order=0,
        load_s=daemon.load_s,
        warm_up_s=warmed.talk.audio_s,
        provider=daemon.provider,
        wall_s=(ended.taken_ns - started.taken_ns) / 1e9 if chunks else talk.busy_ns / 1e9,
        audio_s=talk.audio_s,
        padding_s=daemon.tail_s * talk.utterances.count,
        cpu_s=watch.cpu_s(ended),
        idle_cpu_share=idle_share,
        peak_bytes=ended.peak_resident_bytes or 0,
        start_bytes=started.resident_bytes or 0,
        end_bytes=ended.resident_bytes or 0,
        utterances=_charged(talk, watch.cpu_s(ended), visit.configuration.mode),
        chunks=chunks,
        samples=tuple(watch.samples),
        notes=_notes(daemon, talk),
        conditions=msgspec.to_builtins(condition_figures(record.before, record.samples, record.after, events)),
        violations=violations(record.before, record.samples, record.after, events),
    )


class _Watch:
    """CPU time and memory of all processes of a daemon on this machine; of another one nothing is known."""

    def __init__(self, front_pid: int | None, seconds: float = 0.0) -> None:
        self.sample_every_s = max(LEAST_SAMPLE_PAUSE_S, seconds / MOST_SAMPLES)
        self.samples: list[Sample] = []
        self._front_pid = front_pid
        self._started = Snapshot(taken_ns=0)

    def begin(self) -> Snapshot:
        self._started = self.read()
        return self._started

    def read(self) -> Snapshot:
        if self._front_pid is None:
            return Snapshot(taken_ns=time.monotonic_ns())
        return take_snapshot(tree_pid=self._front_pid)

    def cpu_s(self, now: Snapshot) -> float:
        return (now.tree_cpu_s or 0.0) - (self._started.tree_cpu_s or 0.0)

    def sample(self, talk: Talk) -> None:
        now = self.read()
        self.samples.append(
            Sample(
                at_s=round((now.taken_ns - self._started.taken_ns) / 1e9, 3),
                rss_bytes=now.resident_bytes or 0,
                audio_s=round(talk.audio_s, 3),
                cpu_s=self.cpu_s(now),
                busy_s=talk.busy_ns / 1e9,
                celsius=now.temperature_celsius,
            )
        )


def _idle_share(visit: _Visit) -> float | None:
    """CPU seconds of the daemon per second while every listener is silent."""
    if visit.configuration.mode != "paced" or visit.daemon.front_pid is None or not visit.wanted.idle_s:
        return None
    watch = _Watch(visit.daemon.front_pid)
    started = watch.begin()
    _run(visit.be_silent())
    ended = watch.read()
    return watch.cpu_s(ended) / ((ended.taken_ns - started.taken_ns) / 1e9)


async def _watched(work: Coroutine[Any, Any, None], watch: _Watch, talk: Talk) -> None:
    async with _sampling(watch, talk):
        await work


@asynccontextmanager
async def _sampling(watch: _Watch, talk: Talk) -> AsyncIterator[None]:
    async def sample() -> None:
        while True:
            await asyncio.to_thread(watch.sample, talk)  # it looks over all processes, which would make pieces late
            await asyncio.sleep(watch.sample_every_s)

    sampling = asyncio.create_task(sample())
    try:
        yield
    finally:
        sampling.cancel()
        await asyncio.gather(sampling, return_exceptions=True)


def _run(work: Coroutine[Any, Any, None]) -> None:
    """To its end; of several errors the first."""
    try:
        asyncio.run(work)
    except* EdgeAsrError as group:
        raise _first(group) from None


def _first(group: BaseExceptionGroup[EdgeAsrError]) -> EdgeAsrError:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, EdgeAsrError) else MachineError(str(error))


def _chunks(daemon: Daemon, talk: Talk) -> Chunks:
    """Without steps, which a client does not see."""
    return Chunks(
        chunk_ms=daemon.chunk_ms,
        jitter_ms=tuple(round(value, 3) for value in talk.jitter_ms.items()),
        jitter_max_ms=round(talk.jitter_max_ms, 3),
    )


def _charged(talk: Talk, cpu_s: float, mode: Mode) -> tuple[Utterance, ...]:
    """Each recording with its share of the daemon's CPU time."""
    utterances = talk.utterances.items()
    if mode == "paced" or not talk.audio_s:
        return utterances
    per_second = cpu_s / talk.audio_s
    return tuple(msgspec.structs.replace(each, cpu_s=per_second * each.audio_s) for each in utterances)


def _notes(daemon: Daemon, talk: Talk) -> tuple[str, ...]:
    notes = [f"{count} of the sessions failed: {reason}" for reason, count in talk.failures.items()]
    if talk.is_hopeless:
        notes.append("the daemon fell behind without end and the run was cut short")
    if daemon.front_pid is None:
        notes.append(
            "the daemon runs on another machine, of which nothing is known; the conditions are those of this one"
        )
    return tuple(notes)


def _figures(daemon: Daemon, configuration: Configuration, runs: Sequence[Run]) -> dict[str, Figure]:
    """Those that a client can know."""
    hidden = _UNSEEN if daemon.front_pid is not None else (*_UNSEEN, *_UNSEEN_FROM_AFAR)
    figures = figures_of(configuration, runs, metric_of(daemon.language))
    return {name: figure for name, figure in figures.items() if not name.startswith(hidden)}


_UNSEEN = ("chunk_", "deadline_miss", "backlog_max", "first_decode")
_UNSEEN_FROM_AFAR = ("rtf_cpu", "parallel_efficiency", "memory_", "idle_cpu", "rtf_drift", "temperature_drift")


def _front_pid(address: DaemonAddress, worker_pid: int) -> int | None:
    """Of a daemon on this machine. A forwarded port leads elsewhere, where the number is somebody else's."""
    is_here = address.host in _LOOPBACK or address.host.startswith("127.")
    parent = read_parent(worker_pid) if is_here and worker_pid else None
    program = read_running_program(parent) if parent else None
    return parent if program is not None and program.is_ours else None
