"""The work of ``selftest``: the active model as it would be served, its gates, and the table of what came out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec

from edge_asr.bench.child import Task
from edge_asr.bench.gate import Gate, GateOutcome, Surroundings, read_gates
from edge_asr.bench.identity import model_identity, versions
from edge_asr.bench.selftest import EXTENTS, Alternative, Length, Remedy, SelfTest, alternatives_of, self_test
from edge_asr.bench.sweep import Sweep
from edge_asr.cli import exit_codes
from edge_asr.cli.bench_job import Workloads, plain, task_of
from edge_asr.cli.messages import remark
from edge_asr.cli.options import is_printed, require_folder, write_named
from edge_asr.cli.stores import choose_model, open_store
from edge_asr.engines.provider_table import CPU, RKNN_CHIPS
from edge_asr.engines.providers import known_provider, providers_here, providers_of
from edge_asr.resources.board import BoardFingerprint, read_board
from edge_asr.resources.cgroup import memory_limit_bytes
from edge_asr.resources.memory import available_bytes, total_bytes
from edge_asr.resources.topology import Topology, read_topology
from edge_asr.settings import Settings
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.store.voice_activity import installed_vad
from edge_asr.workers.models import second_model, why_no_second_model

EXPECTED_S: dict[Length, float] = {"quick": 20, "default": 90, "long": 750}


def run_job(model_name: str, length: str, gate_file: Path | None, json_path: Path | None, settings: Settings) -> int:
    """Test, show, write; the exit code.

    Raises:
        EdgeAsrError: There is nothing to test, or the gate file is wrong.
    """
    require_folder(json_path)
    gates = read_gates(gate_file) if gate_file else ()
    store = open_store()
    model = choose_model(store, model_name or settings.model)
    extent = EXTENTS[cast("Length", length)]
    make = Tasks(store, settings, read_topology())
    second = make.second_of(model)
    if why_alone := why_no_second_model(model.manifest, settings.second_pass):
        remark(why_alone)
    served = f"{model.manifest.name}, then {second.manifest.name}" if second else model.manifest.name
    remark(f"testing {served}; this takes about {EXPECTED_S[cast('Length', length)]:.0f} s")
    task = make.as_configured(model)
    outcome = self_test(
        task,
        extent,
        Surroundings(
            chunk_ms=model.manifest.chunk_ms, memory_bytes=memory_limit_bytes() or total_bytes() or available_bytes()
        ),
        gates=gates,
        alternatives=lambda: make.alternatives(model, task),
        other_providers=lambda: make.on_other_providers(model),
    )
    board = read_board()
    document = _document(outcome, model, second, length, gates, board)
    if json_path is not None:
        write_named(json_path, msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")
    if not is_printed(json_path):
        show(outcome, served, board.model or board.architecture or "this machine")
    return exit_codes.DONE if outcome.verdict == "PASS" else exit_codes.GATE


class Tasks:
    """Makes tasks of models and settings, with the second pass that would be served."""

    def __init__(self, store: ModelStore, settings: Settings, topology: Topology) -> None:
        self._store = store
        self._settings = settings
        self._topology = topology
        self._workload = Workloads(None)

    def second_of(self, model: InstalledModel) -> InstalledModel | None:
        """The model that hears its segments again; ``None`` for none.

        Raises:
            ModelError: It is not installed.
            ConfigurationError: It does not hear whole segments.
        """
        return second_model(self._store, model.manifest, self._settings.second_pass)

    def as_configured(self, model: InstalledModel) -> Task:
        """The model as ``serve`` would run it."""
        return self._with(model, self._settings.engine.threads, self._settings.worker.cpus)

    def alternatives(self, model: InstalledModel, task: Task) -> list[Alternative]:
        """What may help: no second pass, other threads and cores, smaller models that are here; the surest first."""
        smaller = [
            Alternative(f"the model {other.manifest.name}", self.as_configured(other))
            for other in self._smaller_than(model)
        ]
        return [*self._alone(model), *alternatives_of(task, self._topology, partial(self._with, model)), *smaller]

    def on_other_providers(self, model: InstalledModel) -> list[Task]:
        """The model on the processor and on each NPU that runs it here, but for the provider that is configured.

        A model that is compiled for one chip runs nowhere else: the one that it was made from stands for it, where that
        is installed.
        """
        engine, cpus = self._settings.engine, self._settings.worker.cpus
        others = [each for each in providers_here(model.manifest) if each != known_provider(engine.provider)]
        tasks = [self._with(model, engine.threads, cpus, provider) for provider in others]
        original = None if CPU in providers_of(model.manifest) else original_of(model, self._store.installed())
        return tasks if original is None else [*tasks, self._with(original, engine.threads, cpus, CPU)]

    def _alone(self, model: InstalledModel) -> Iterator[Alternative]:
        if self.second_of(model):
            threads, cpus = self._settings.engine.threads, self._settings.worker.cpus
            yield Alternative("no second_pass.model", self._with(model, threads, cpus, hears_again=False))

    def _smaller_than(self, model: InstalledModel) -> list[InstalledModel]:
        size = _size_bytes(model)
        language = model.manifest.languages[:1]
        others = [
            other
            for other in self._store.installed()
            if other.manifest.family != "silero-vad"
            and other.manifest.languages[:1] == language
            and _size_bytes(other) < size
        ]
        return sorted(others, key=_size_bytes, reverse=True)

    def _with(
        self,
        model: InstalledModel,
        threads: int,
        cpus: tuple[int, ...],
        provider: str = "",
        *,
        hears_again: bool = True,
    ) -> Task:
        engine = self._settings.engine
        second = self.second_of(model) if hears_again else None
        sweep = Sweep(
            modes=["paced"],
            providers=[provider or known_provider(engine.provider)],
            threads=[threads],
            cpus=[cpus] if cpus else [],
            batches=[self._settings.scheduler.max_batch],
            windows_ms=[self._settings.scheduler.window_ms],
            spinning=[engine.allow_spinning],
        )
        behind = second.manifest.name if second else ""
        (configuration,) = sweep.configurations(model.manifest.name, self._topology, [behind])
        settings = replace(self._settings, engine=replace(engine, threads=threads))
        clips = self._workload.clips(
            None if second else model
        )  # finals may have words that the first one does not know
        return task_of(configuration, settings, model, clips, installed_vad(self._store), second)


def original_of(compiled: InstalledModel, models: Sequence[InstalledModel]) -> InstalledModel | None:
    """What a compiled model was made from, by its name, for the processor: as it is served, else 8 bits, else float."""
    chip = next((chip for chip in RKNN_CHIPS if compiled.manifest.name.endswith(f"-{chip}")), "")
    stem = compiled.manifest.name.removesuffix(f"-{chip}")
    named = {
        model.manifest.name: model
        for model in models
        if model.manifest.family == compiled.manifest.family and CPU in providers_of(model.manifest)
    }
    return next((named[name] for name in (stem, f"{stem}-int8", f"{stem}-fp32") if chip and name in named), None)


def _size_bytes(model: InstalledModel) -> int:
    return sum((model.directory / file.path).stat().st_size for file in model.manifest.files.values())


def _document(
    outcome: SelfTest,
    model: InstalledModel,
    second: InstalledModel | None,
    length: str,
    gates: Sequence[Gate],
    board: BoardFingerprint,
) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.to_builtins(outcome)
    return {
        "verdict": built.pop("verdict"),
        "length": length,
        "created": dt.datetime.now().astimezone().isoformat(timespec="seconds"),
        "model": msgspec.to_builtins(model_identity(model)),
        "second_pass": msgspec.to_builtins(model_identity(second)) if second else None,
        "board": msgspec.to_builtins(board, enc_hook=plain),
        "versions": versions(),
        "own_gates": bool(gates),
        **built,
    }


def show(outcome: SelfTest, model: str, machine: str) -> None:
    """The gates as a table, then why not, then the verdict in one word on a line of its own."""
    from rich.table import Table

    from edge_asr.cli.console import results_console

    console = results_console()
    table = Table(title=f"{model} on {machine}", title_justify="left", box=None, pad_edge=False)
    for heading, justify in (
        ("gate", "left"),
        ("measured", "right"),
        ("limit", "right"),
        ("margin", "right"),
        ("", "left"),
    ):
        table.add_column(heading, justify=cast("Any", justify))
    for gate in outcome.judgement.outcomes:
        table.add_row(gate.figure, *_cells(gate))
    console.print(table)
    for result in outcome.results:
        if result.error:
            console.print(f"could not be measured: {result.error}", markup=False)
    for violation in outcome.judgement.violations:
        console.print(f"invalid: {violation.message}", markup=False)
    for note in outcome.notes:
        console.print(note, markup=False)
    if outcome.providers is not None:
        console.print(outcome.providers.sentence, markup=False)
    for remedy in outcome.remedies:
        console.print(_sentence(remedy), markup=False)
    if outcome.verdict == "FAIL" and outcome.remedies and not any(r.would_pass for r in outcome.remedies):
        console.print("nothing that was tried would pass; a faster board or a smaller model is needed")
    console.print(outcome.verdict)


def _cells(gate: GateOutcome) -> tuple[str, str, str, str]:
    mark = "ok" if gate.is_met else "FAILED"
    if gate.value is None or gate.limit is None:
        value = "-" if gate.value is None else _amount(gate.value, gate.unit)
        return value, "-", "-", f"{'left out' if gate.is_met else 'FAILED'}: {gate.note}"
    sign = "≥" if gate.is_lower_limit else "≤"
    margin = f"{gate.margin:.0%}" if gate.margin is not None else ""
    return _amount(gate.value, gate.unit), f"{sign} {_amount(gate.limit, gate.unit)}", margin, mark


def _amount(value: float, unit: str) -> str:
    if unit == "bytes":
        return f"{value / (1 << 20):.0f} MiB"
    if unit == "bytes per hour":
        return f"{value / (1 << 20):.1f} MiB/h"
    if unit == "share":
        return f"{value:.1%}"
    if unit == "ms":
        return f"{value:.1f} ms"
    return f"{value:.3f}" + (f" {unit}" if unit == "s" else "")


def _sentence(remedy: Remedy) -> str:
    if remedy.error:
        return f"tried {remedy.change}: {remedy.error}"
    figures = remedy.figures
    shown = ", ".join(f"{name} {figures[name]:.3g}" for name in ("rtf_wall", "deadline_miss", "wer") if name in figures)
    if remedy.violations:
        return f"tried {remedy.change}: disturbed, so that nothing can be said ({shown})"
    return f"tried {remedy.change}: {'would PASS' if remedy.would_pass else 'would fail too'} ({shown})"
