"""The trial before a model becomes the active one: load it, let it hear the bundled recordings, look at memory.

Nothing is timed: it runs beside a daemon that may be busy, where a timing would say nothing. What is judged are the
words and the memory. ``edge-asr selftest`` times, before a device is shipped.
"""

from __future__ import annotations

import msgspec

from edge_asr.bench.child import Task
from edge_asr.bench.document import Configuration, Result
from edge_asr.bench.figure_text import quantity, title_of
from edge_asr.bench.figures import figures_of
from edge_asr.bench.gate import DEFAULT_GATES, Gate, GateOutcome, Surroundings, judge
from edge_asr.bench.run import measure_once
from edge_asr.cli.bench_job import Workloads, task_of
from edge_asr.cli.messages import remark
from edge_asr.cli.stores import installed_vad
from edge_asr.errors import GateFailed
from edge_asr.families import FAMILIES
from edge_asr.resources.cgroup import memory_limit_bytes
from edge_asr.resources.memory import available_bytes, total_bytes
from edge_asr.resources.topology import read_topology, worker_cores
from edge_asr.scoring import metric_of
from edge_asr.settings import Settings
from edge_asr.store.store import InstalledModel, ModelStore

MEMORY_GATES = tuple(gate for gate in DEFAULT_GATES if gate.figure == "memory_peak")
DEFAULT_MAX_WER = next(gate.max for gate in DEFAULT_GATES if gate.figure == "wer") or 1.0

MOST_S = 20.0
"""No recording begins later; a slow model is judged by what it has heard until then."""

CLIPS_LANGUAGE = "en"
"""Of the recordings inside the package; models of other languages decode them, and nobody reads what they say."""


def try_out(store: ModelStore, model: InstalledModel, settings: Settings, max_wer: float = DEFAULT_MAX_WER) -> None:
    """Say why a model must not become the active one.

    Args:
        store: Where it is installed.
        model: The model.
        settings: How it would be served.
        max_wer: Highest word error rate on the bundled recordings; from 1 on words are not judged.

    Raises:
        ModelError: It cannot be loaded, or ends the process that does.
        MachineError: The machine cannot run it.
        GateFailed: It misunderstands the recordings, or takes too much memory.
    """
    if FAMILIES[model.manifest.family].kind == "vad":
        return
    configuration = Configuration(
        model=model.manifest.name,
        mode="throughput",
        provider=settings.engine.provider,
        threads=settings.engine.threads,
        cpus=settings.worker.cpus or worker_cores(read_topology(), settings.engine.threads),
    )
    task = _as_a_trial(task_of(configuration, settings, model, Workloads(None).clips(model), installed_vad(store)))
    run = measure_once(task, settings.worker.malloc_arenas)
    figures = figures_of(configuration, [run], metric_of(task.language))
    judges_words = _speaks_the_language(model) and max_wer < 1
    gates = (*MEMORY_GATES, Gate(figure="wer", max=max_wer)) if judges_words else MEMORY_GATES
    result = Result(configuration=configuration, runs=(run,), figures=figures)
    outcomes = judge(gates, [result], _surroundings(model)).outcomes
    failed = [outcome for outcome in outcomes if not outcome.is_met]
    if failed:
        reasons = ", ".join(map(_reason, failed))
        raise GateFailed(
            f"model {model.manifest.name!r} is not activated: {reasons}; if it is not made for the recordings inside "
            "the package (`edge_asr/clips`), say --max-wer 1"
        )
    heard = ", ".join(_figure(outcome) for outcome in outcomes if outcome.value is not None)
    remark(f"{model.manifest.name} was tried with {len(run.utterances)} recordings: {heard}")


def _as_a_trial(task: Task) -> Task:
    """Once through the recordings, without a warm-up."""
    return msgspec.structs.replace(task, least_audio_s=0.0, most_s=MOST_S, warm_up_s=0.0, most_warm_up_s=0.0)


def _speaks_the_language(model: InstalledModel) -> bool:
    return any(language.lower().split("-")[0] == CLIPS_LANGUAGE for language in model.manifest.languages)


def _surroundings(model: InstalledModel) -> Surroundings:
    memory_bytes = memory_limit_bytes() or total_bytes() or available_bytes()
    return Surroundings(chunk_ms=model.manifest.chunk_ms, memory_bytes=memory_bytes)


def _reason(outcome: GateOutcome) -> str:
    if outcome.value is None or outcome.limit is None:
        return f"{title_of(outcome.figure).lower()}: {outcome.note}"
    limit = quantity(outcome.limit, outcome.unit)
    return f"{_figure(outcome)}, at most {limit} is allowed"


def _figure(outcome: GateOutcome) -> str:
    value = quantity(outcome.value or 0.0, outcome.unit)
    return f"{title_of(outcome.figure).lower()} {value}"
