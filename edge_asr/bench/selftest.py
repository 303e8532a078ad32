"""The verdict before deployment: measure as the daemon would run, apply the gates, and find out what would help."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from edge_asr.bench.child import Task
from edge_asr.bench.document import Configuration, Result, Run, Violation
from edge_asr.bench.figures import figures_of
from edge_asr.bench.gate import (
    DEFAULT_GATES,
    LONG_GATES,
    QUICK_GATES,
    Gate,
    Judgement,
    Surroundings,
    Verdict,
    judge,
)
from edge_asr.bench.provider_choice import ProviderChoice, compare_providers, partial_sentences
from edge_asr.bench.run import measure_once
from edge_asr.bench.tiers import skipped_sentences
from edge_asr.errors import EdgeAsrError
from edge_asr.resources.topology import Topology
from edge_asr.scoring import metric_of

Length = Literal["quick", "default", "long"]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much one self-test measures."""

    gates: tuple[Gate, ...]
    throughput_audio_s: float
    throughput_most_s: float
    paced_s: float
    warm_up_s: float
    looks_for_remedies: bool


EXTENTS: dict[Length, Extent] = {
    "quick": Extent(QUICK_GATES, 6.0, 5.0, 6.0, 2.0, looks_for_remedies=False),
    "default": Extent(DEFAULT_GATES, 30.0, 20.0, 35.0, 10.0, looks_for_remedies=True),
    "long": Extent(LONG_GATES, 120.0, 120.0, 600.0, 10.0, looks_for_remedies=True),
}
"""``quick`` ends within 20 s and ``default`` within two minutes, also where the model is too slow to pass."""

MOST_BESIDE_S = 12.0
"""At live pace, of a provider that is only compared; it hears as much as the configured one in the other mode."""

MOST_REMEDIES = 4
"""Alternatives that are measured when the self-test fails; each takes about ten seconds."""


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """Something else that was measured because the model as configured failed."""

    change: str
    """What to do, as a sentence."""
    configuration: Configuration
    would_pass: bool
    figures: dict[str, float]
    """Those that decided."""
    error: str = ""
    violations: tuple[Violation, ...] = ()
    """Why its figures do not count."""


class SelfTest(msgspec.Struct, frozen=True, kw_only=True):
    """What a fleet collects."""

    verdict: Verdict
    judgement: Judgement
    results: tuple[Result, ...]
    remedies: tuple[Remedy, ...] = ()
    providers: ProviderChoice | None = None
    """The configured provider beside the others that run the model here; nothing where there are none."""
    notes: tuple[str, ...] = ()
    """What a reader should know and no gate says: operators that the provider left to the CPU, finals that the second
    pass did not write."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A change that may help."""

    change: str
    task: Task


def self_test(
    task: Task,
    extent: Extent,
    surroundings: Surroundings,
    *,
    gates: Sequence[Gate] = (),
    alternatives: Callable[[], Sequence[Alternative]] = tuple,
    other_providers: Callable[[], Sequence[Task]] = tuple,
    measure: Callable[[Task], Run] = measure_once,
) -> SelfTest:
    """Measure, judge, and when it failed measure what would help.

    Args:
        task: The model as it would be served; its mode does not matter.
        extent: How much to measure.
        surroundings: What relative gates are relative to.
        gates: In place of those of ``extent``.
        alternatives: Asked only when the test has failed and is not a quick one.
        other_providers: The model on others that run it here, to be compared; asked unless the test is a quick one or
            was disturbed.
        measure: Makes one run.
    """
    results = _measure(task, extent, measure)
    chunk_ms = next((run.chunks.chunk_ms for result in results for run in result.runs if run.chunks), 0.0)
    known = msgspec.structs.replace(surroundings, chunk_ms=chunk_ms or surroundings.chunk_ms)
    judgement = judge(gates or extent.gates, results, known)
    remedies: tuple[Remedy, ...] = ()
    if judgement.verdict == "FAIL" and extent.looks_for_remedies:
        remedies = tuple(_remedies(alternatives()[:MOST_REMEDIES], _for_a_short_look(gates), known, measure))
    providers = None
    if judgement.verdict != "INVALID" and extent.looks_for_remedies:
        others = [result for other in other_providers() for result in _measure(other, _beside(extent), measure)]
        providers = compare_providers([*results, *others])
    return SelfTest(
        verdict=judgement.verdict,
        judgement=judgement,
        results=tuple(results),
        remedies=remedies,
        providers=providers,
        notes=(*partial_sentences(results), *skipped_sentences(results)),
    )


def alternatives_of(
    task: Task, topology: Topology, with_threads: Callable[[int, tuple[int, ...]], Task]
) -> Iterator[Alternative]:
    """Other numbers of threads and other cores for the same model, the most promising first.

    Args:
        task: As configured.
        topology: Of this machine.
        with_threads: The same task with so many threads on these cores.
    """
    now = task.configuration
    for cluster in topology.clusters():
        cpus = tuple(sorted({min(core.siblings & set(topology.cpus), default=core.cpu) for core in cluster}))
        for threads in sorted({1, 2, len(cpus)}):
            if threads <= len(cpus) and (threads, cpus) != (now.threads, now.cpus):
                cores = ",".join(str(cpu) for cpu in cpus)
                change = f"engine.threads = {threads} and worker.cpus = [{cores}]"
                yield Alternative(change, with_threads(threads, cpus))


def _beside(extent: Extent) -> Extent:
    return replace(extent, paced_s=min(extent.paced_s, MOST_BESIDE_S))


def _measure(task: Task, extent: Extent, measure: Callable[[Task], Run]) -> list[Result]:
    modes: tuple[Literal["throughput", "paced"], ...] = ("throughput", "paced")
    results = []
    for mode in modes:
        wanted = msgspec.structs.replace(
            task,
            configuration=msgspec.structs.replace(task.configuration, mode=mode),
            seconds=extent.paced_s,
            least_audio_s=extent.throughput_audio_s,
            most_s=extent.throughput_most_s,
            warm_up_s=extent.warm_up_s,
            most_warm_up_s=2 * extent.warm_up_s,
        )
        results.append(_result(wanted, measure))
        if results[-1].error:
            break  # what cannot be loaded or dies once need not be tried at live pace
        if not extent.looks_for_remedies and _is_hopeless(results[-1]):
            break  # at live pace it would only fall behind, for as long as a quick test may take
    return results


def _is_hopeless(result: Result) -> bool:
    """Whether it takes longer than the speech itself, with nobody to blame for it."""
    figure = result.figures.get("rtf_wall")
    return result.is_valid and figure is not None and figure.value is not None and figure.value > 1


def _result(task: Task, measure: Callable[[Task], Run]) -> Result:
    try:
        run = measure(task)
    except EdgeAsrError as error:
        return Result(configuration=task.configuration, error=str(error), error_code=error.code)
    figures = figures_of(task.configuration, [run], metric_of(task.language))
    return Result(configuration=task.configuration, runs=(run,), figures=figures)


def _for_a_short_look(gates: Sequence[Gate]) -> Sequence[Gate]:
    """The gates of the user, without insisting on figures for which ten seconds are too short; else the quick ones."""
    return [msgspec.structs.replace(gate, optional=True) for gate in gates] or QUICK_GATES


def _remedies(
    alternatives: Sequence[Alternative],
    gates: Sequence[Gate],
    surroundings: Surroundings,
    measure: Callable[[Task], Run],
) -> Iterator[Remedy]:
    for alternative in alternatives:
        results = _measure(alternative.task, EXTENTS["quick"], measure)
        judgement = judge(gates, results, surroundings)
        figures: dict[str, Any] = {outcome.figure: outcome.value for outcome in judgement.outcomes}
        yield Remedy(
            change=alternative.change,
            configuration=alternative.task.configuration,
            would_pass=judgement.verdict == "PASS",
            figures={name: value for name, value in figures.items() if value is not None},
            error=next((result.error for result in results if result.error), ""),
            violations=judgement.violations,
        )
