"""The cheapest setting that keeps up on this board, found by successive halving (Jamieson & Talwalkar 2016).

All candidates are measured shortly at live pace; the better half goes on to a round twice as long, until few are left,
which are then measured against the default in interleaved repetitions. Cost is CPU time per second of audio at live
pace, which is heat and battery and what is left for others; a candidate that misses a gate is dearer than any that
meets all. Spinning threads look fast and are dear, which this cost sees and a real-time factor does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from edge_asr.bench.child import Task
from edge_asr.bench.document import Result, Run
from edge_asr.bench.figure_text import violations_of
from edge_asr.bench.figures import figures_of
from edge_asr.bench.gate import DEFAULT_GATES, Gate, Surroundings, judge
from edge_asr.bench.provider_choice import MOST_WORSE
from edge_asr.bench.run import Progress, interleaved, measure_once
from edge_asr.engines.provider_table import CPU, NPU_PROVIDERS
from edge_asr.errors import EdgeAsrError, ProviderUnavailable
from edge_asr.resources.topology import Core, Topology, worker_cores
from edge_asr.scoring import metric_of
from edge_asr.statistics import Block, PairedChange, TooFew, paired_change

FIRST_ROUND_S = 8.0
FINALISTS = 3
"""Candidates of the last round, the default among them."""
FINAL_REPETITIONS = 5
FINAL_S = 16.0
LIVE_GATES = tuple(
    gate for gate in DEFAULT_GATES if gate.figure in ("chunk_compute_p90", "deadline_miss", "backlog_max")
)


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What is chosen: the keys of the configuration that a board profile sets."""

    threads: int
    cpus: tuple[int, ...]
    allow_spinning: bool = False
    max_batch: int = 16
    provider: str = CPU

    def sentence(self, instead_of: str = CPU) -> str:
        """As the lines of a configuration file.

        Args:
            instead_of: Provider without these lines; the CPU need not be named where it is that in any case.
        """
        cores = ", ".join(str(cpu) for cpu in self.cpus)
        spinning = "true" if self.allow_spinning else "false"
        provider = "" if self.provider == instead_of == CPU else f'engine.provider = "{self.provider}", '
        return (
            f"{provider}engine.threads = {self.threads}, worker.cpus = [{cores}], "
            f"engine.allow_spinning = {spinning}, scheduler.max_batch = {self.max_batch}"
        )


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one candidate in one round."""

    round: int
    """From 0; the last one is the final."""
    setting: Setting
    cpu_per_audio: float | None
    """CPU seconds per second of audio at live pace; ``None`` where it could not be measured."""
    meets_gates: bool
    violations: tuple[str, ...] = ()
    error: str = ""
    error_rate: float | None = None
    """On the recordings of the round; decides about another provider than the default's, in the final."""
    hears_worse: bool = False
    """Whether it is on another provider, and adds more errors than a compiled model may."""


class Tuning(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome and its evidence."""

    chosen: Setting
    default: Setting
    meets_gates: bool
    """Whether the chosen setting does; where none does it is the one that came closest."""
    is_default: bool
    ratio: float | None
    """CPU time of the chosen setting over that of the default, from the final's paired runs."""
    ratio_low: float | None
    ratio_high: float | None
    trials: tuple[Trial, ...]
    results: tuple[Result, ...]
    """Of the final, with every run."""
    is_valid: bool
    """Whether no run of the final was disturbed."""


@dataclass(frozen=True, slots=True)
class _Scored:
    setting: Setting
    trial: Trial

    @property
    def rank(self) -> tuple[bool, float]:
        cost, trial = self.trial.cpu_per_audio, self.trial
        return (not trial.meets_gates or trial.hears_worse, float("inf") if cost is None else cost)


def candidates(topology: Topology, streams: int, max_batch: int, providers: Sequence[str] = (CPU,)) -> list[Setting]:
    """Settings worth trying on these cores.

    One thread per physical core; core sets are whole clusters, and clusters without core 0, which serves the
    interrupts of most boards; never threads across clusters of different speed, never more threads than cores.

    Args:
        topology: Cores this process may use.
        streams: How many are tuned for; batches matter from two on.
        max_batch: The configured one.
        providers: Execution providers to try; an NPU computes on no threads of ours, so one is enough there.
    """
    batches = sorted({max_batch, 1} if streams > 1 else {max_batch})
    return [
        Setting(threads=threads, cpus=cpus, allow_spinning=spinning, max_batch=batch, provider=provider)
        for provider in providers
        for cpus in dict.fromkeys(_core_sets(topology))
        for threads in ([1] if provider in NPU_PROVIDERS else sorted({1, min(2, len(cpus)), len(cpus)}))
        for spinning in ((False, True) if threads > 1 else (False,))
        for batch in batches
    ]


def default_setting(
    topology: Topology,
    threads: int,
    cpus: tuple[int, ...],
    max_batch: int,
    *,
    allow_spinning: bool,
    provider: str = CPU,
) -> Setting:
    """What is in force without a profile."""
    return Setting(
        threads=threads,
        cpus=cpus or worker_cores(topology, threads),
        allow_spinning=allow_spinning,
        max_batch=max_batch,
        provider=provider,
    )


def tune(
    settings: Sequence[Setting],
    default: Setting,
    make: Callable[[Setting], Task],
    surroundings: Surroundings,
    *,
    progress: Progress,
    gates: Sequence[Gate] = LIVE_GATES,
    measure: Callable[[Task], Run] = measure_once,
) -> Tuning:
    """Find the cheapest setting that meets the gates.

    Args:
        settings: Candidates.
        default: Always reaches the final.
        make: A paced task for a setting.
        surroundings: What relative gates are relative to.
        progress: Called before each measurement.
        gates: What a setting must meet.
        measure: Makes one run.
    """
    trials: list[Trial] = []
    field = list(dict.fromkeys([default, *settings]))
    seconds, number = FIRST_ROUND_S, 0
    while len(field) > FINALISTS:
        scored = []
        for place, setting in enumerate(field):
            task = _lasting(make(setting), seconds)
            progress(place, len(field), task.configuration)
            trial = _try(number, setting, task, surroundings, gates, measure)
            trials.append(trial)
            scored.append(_Scored(setting, trial))
        scored.sort(key=lambda entry: entry.rank)
        kept = [entry.setting for entry in scored[: max(FINALISTS, len(field) // 2)]]
        field = kept if default in kept else [*kept[: max(FINALISTS, len(field) // 2) - 1], default]
        seconds, number = 2 * seconds, number + 1
        if len(field) == FINALISTS:
            break
    results = _final(field, make, progress, measure)
    return _choose(field, default, results, trials, number, surroundings, gates)


def _final(
    field: Sequence[Setting],
    make: Callable[[Setting], Task],
    progress: Progress,
    measure: Callable[[Task], Run],
) -> list[Result]:
    tasks = [_lasting(make(setting), FINAL_S) for setting in field]
    runs: list[list[Run]] = [[] for _ in tasks]
    errors: list[EdgeAsrError | None] = [None] * len(tasks)
    turns = interleaved(len(tasks), FINAL_REPETITIONS, seed=0)
    for turn in turns:
        task = tasks[turn.configuration]
        if errors[turn.configuration]:
            continue
        progress(turn.order, len(turns), task.configuration)
        try:
            run = _run(task, measure)
        except EdgeAsrError as error:
            errors[turn.configuration] = error
            continue
        runs[turn.configuration].append(msgspec.structs.replace(run, repetition=turn.repetition, order=turn.order))
    return [
        Result(
            configuration=task.configuration,
            runs=tuple(done),
            figures=figures_of(task.configuration, done, metric_of(task.language)),
            error=str(error) if error else "",
            error_code=error.code if error else "",
        )
        for task, done, error in zip(tasks, runs, errors, strict=True)
    ]


def _choose(
    field: Sequence[Setting],
    default: Setting,
    results: Sequence[Result],
    trials: list[Trial],
    number: int,
    surroundings: Surroundings,
    gates: Sequence[Gate],
) -> Tuning:
    final = [
        _trial(number, setting, result, surroundings, gates) for setting, result in zip(field, results, strict=True)
    ]
    final = _judged_by_ear(final, final[field.index(default)])
    scored = sorted(map(_Scored, field, final), key=lambda entry: entry.rank)
    best, default_result = scored[0], results[field.index(default)]
    change = _change(default_result, results[field.index(best.setting)])
    default_trial = final[field.index(default)]
    # A default that meets the gates is only left for what is cheaper beyond doubt.
    is_default = best.setting == default or (default_trial.meets_gates and not _is_cheaper(change))
    chosen = default if is_default else best.setting
    compared = change if isinstance(change, PairedChange) and not is_default else None
    interval = compared.ratio_interval if compared else None
    return Tuning(
        chosen=chosen,
        default=default,
        meets_gates=final[field.index(chosen)].meets_gates,
        is_default=is_default,
        ratio=compared.ratio if compared else None,
        ratio_low=interval.low if interval else None,
        ratio_high=interval.high if interval else None,
        trials=(*trials, *final),
        results=tuple(results),
        is_valid=any(result.runs for result in results) and not any(map(violations_of, results)),
    )


def _judged_by_ear(final: Sequence[Trial], default: Trial) -> list[Trial]:
    """Threads and cores leave the text as it is; another provider computes otherwise, and is held to the default."""
    return [
        msgspec.structs.replace(
            trial,
            hears_worse=trial.setting.provider != default.setting.provider
            and trial.error_rate is not None
            and default.error_rate is not None
            and trial.error_rate - default.error_rate > MOST_WORSE,
        )
        for trial in final
    ]


def _change(before: Result, after: Result) -> PairedChange | TooFew:
    return paired_change(_cpu_blocks(before.runs), _cpu_blocks(after.runs))


def _is_cheaper(change: PairedChange | TooFew) -> bool:
    return isinstance(change, PairedChange) and change.verdict == "lower"


def _cpu_blocks(runs: Sequence[Run]) -> Iterator[Block]:
    for run in runs:
        yield Block(run.repetition, "run", run.cpu_s, run.audio_s)


def _lasting(task: Task, seconds: float) -> Task:
    return msgspec.structs.replace(task, seconds=seconds)


def _run(task: Task, measure: Callable[[Task], Run]) -> Run:
    """One run on the very provider.

    Raises:
        ProviderUnavailable: Another one took its place, which has its own settings to be tried with.
    """
    run = measure(task)
    for violation in run.violations:
        if violation.code == "provider_fell_back":
            raise ProviderUnavailable(task.configuration.provider, violation.message)
    return run


def _try(
    number: int,
    setting: Setting,
    task: Task,
    surroundings: Surroundings,
    gates: Sequence[Gate],
    measure: Callable[[Task], Run],
) -> Trial:
    try:
        run = _run(task, measure)
    except EdgeAsrError as error:
        return Trial(round=number, setting=setting, cpu_per_audio=None, meets_gates=False, error=str(error))
    figures = figures_of(task.configuration, [run], metric_of(task.language))
    return _trial(
        number, setting, Result(configuration=task.configuration, runs=(run,), figures=figures), surroundings, gates
    )


def _trial(number: int, setting: Setting, result: Result, surroundings: Surroundings, gates: Sequence[Gate]) -> Trial:
    audio_s = sum(run.audio_s for run in result.runs)
    cpu_s = sum(run.cpu_s for run in result.runs)
    chunk_ms = max((run.chunks.chunk_ms for run in result.runs if run.chunks), default=0.0)
    judged = judge(gates, [result], msgspec.structs.replace(surroundings, chunk_ms=chunk_ms))
    return Trial(
        round=number,
        setting=setting,
        cpu_per_audio=cpu_s / audio_s if audio_s else None,
        meets_gates=all(outcome.is_met for outcome in judged.outcomes) and not result.error,
        violations=tuple(dict.fromkeys(violation.code for run in result.runs for violation in run.violations)),
        error=result.error,
        error_rate=next((result.figures[name].value for name in ("wer", "cer") if name in result.figures), None),
    )


def _core_sets(topology: Topology) -> Iterator[tuple[int, ...]]:
    for cluster in topology.clusters():
        cpus = _one_per_physical_core(cluster)
        yield cpus
        if 0 in cpus and len(cpus) > 1:
            yield tuple(cpu for cpu in cpus if cpu != 0)


def _one_per_physical_core(cores: Sequence[Core]) -> tuple[int, ...]:
    first = {core.siblings: core.cpu for core in sorted(cores, key=lambda core: core.cpu, reverse=True)}
    return tuple(sorted(first.values()))
