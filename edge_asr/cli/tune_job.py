"""The work of ``tune``: candidates from the topology, the search, and the board profile."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from edge_asr.bench.child import Task
from edge_asr.bench.document import Configuration
from edge_asr.bench.gate import Surroundings
from edge_asr.bench.tune import Setting, Trial, Tuning, candidates, default_setting, tune
from edge_asr.cli import exit_codes
from edge_asr.cli.bench_job import Workloads, show_progress, task_of
from edge_asr.cli.board_profile import ModelProfile, board_digest, write_profile
from edge_asr.cli.messages import remark, warn
from edge_asr.cli.options import is_printed, require_folder, write_named
from edge_asr.cli.stores import choose_model, open_store, writable_root
from edge_asr.engines.providers import known_provider
from edge_asr.resources.board import read_board
from edge_asr.resources.memory import available_bytes
from edge_asr.resources.topology import read_topology
from edge_asr.settings import Settings
from edge_asr.store.store import InstalledModel
from edge_asr.store.voice_activity import installed_vad
from edge_asr.workers.models import why_no_second_model

EVIDENCE_FILE = "board-profile.json"

_HEADINGS = (
    *("round", "provider", "threads", "cores", "spinning", "batch"),
    *("CPU s per audio s", "keeps up", "disturbed by"),
)


def run_job(
    model_name: str,
    streams: int,
    json_path: Path | None,
    settings: Settings,
    *,
    is_dry: bool,
    providers: Sequence[str] = (),
) -> int:
    """Search, show, write; the exit code.

    Args:
        model_name: Store name; empty for the active one.
        streams: Live streams to tune for.
        json_path: Where the evidence is written besides; ``-`` for standard output, in place of the table.
        settings: In force without a profile.
        is_dry: Whether nothing is written into the store.
        providers: Execution providers to choose from besides the configured one.

    Raises:
        EdgeAsrError: There is no such model, or no store to write to.
    """
    require_folder(json_path)
    store = open_store()
    model = choose_model(store, model_name or settings.model)
    root = None if is_dry else writable_root()
    topology = read_topology()
    batch = settings.scheduler.max_batch
    engine = settings.engine
    default = default_setting(
        topology,
        engine.threads,
        settings.worker.cpus,
        batch,
        allow_spinning=engine.allow_spinning,
        provider=known_provider(engine.provider),
    )
    field = candidates(topology, streams, batch, tuple(dict.fromkeys([default.provider, *providers])))
    remark(f"tuning {model.manifest.name}: {len(field)} settings, some minutes; nothing is written before the end")
    if settings.second_pass.model and not why_no_second_model(model.manifest, settings.second_pass):
        remark(
            f"the second pass, {settings.second_pass.model}, is left out: no stream waits for it, and its threads are "
            "second_pass.threads; `edge-asr selftest` judges both models together"
        )
    outcome = tune(
        field,
        default,
        _maker(model, settings, streams, installed_vad(store)),
        Surroundings(chunk_ms=model.manifest.chunk_ms, memory_bytes=available_bytes()),
        progress=show_progress(),
    )
    if not is_printed(json_path):
        _show(outcome)
    content = msgspec.json.format(msgspec.json.encode(outcome), indent=1) + b"\n"
    if json_path is not None:
        write_named(json_path, content)
    if not outcome.is_valid:
        warn("the last round was disturbed; nothing is written, run it again on a quiet board")
        return exit_codes.GATE
    if not outcome.meets_gates:
        warn("no setting keeps up; nothing is written, use a smaller model (`edge-asr models list`)")
        return exit_codes.GATE
    if root is not None:
        (root / EVIDENCE_FILE).write_bytes(content)
        path = write_profile(
            root, board_digest(read_board()), model.manifest.name, profile_entry(outcome, streams), EVIDENCE_FILE
        )
        remark(f"{path} written; `edge-asr config show --origin` shows what is in force")
    return exit_codes.DONE


def _maker(
    model: InstalledModel, settings: Settings, streams: int, vad_model: Path | None
) -> Callable[[Setting], Task]:
    clips = Workloads(None).clips(model)

    def make(setting: Setting) -> Task:
        configuration = Configuration(
            model=model.manifest.name,
            mode="paced",
            provider=setting.provider,
            threads=setting.threads,
            cpus=setting.cpus,
            streams=streams,
            max_batch=setting.max_batch,
            window_ms=settings.scheduler.window_ms,
            allow_spinning=setting.allow_spinning,
        )
        return task_of(configuration, settings, model, clips, vad_model)

    return make


def profile_entry(outcome: Tuning, streams: int) -> ModelProfile:
    """What is written for a model.

    Args:
        outcome: Of the search.
        streams: Live streams that it was tuned for.
    """
    setting = outcome.chosen
    costs = [trial.cpu_per_audio for trial in outcome.trials if trial.setting == setting and trial.cpu_per_audio]
    return ModelProfile(
        tuned=dt.datetime.now().astimezone().isoformat(timespec="seconds"),
        threads=setting.threads,
        cpus=setting.cpus,
        allow_spinning=setting.allow_spinning,
        max_batch=setting.max_batch,
        streams=streams,
        cpu_per_audio=round(costs[-1], 5) if costs else 0.0,
        provider=setting.provider if setting.provider != outcome.default.provider else "",
    )


def _show(outcome: Tuning) -> None:
    from rich.table import Table

    from edge_asr.cli.console import results_console

    console = results_console()
    table = Table(box=None, pad_edge=False)
    for heading in _HEADINGS:
        table.add_column(heading)
    for trial in outcome.trials:
        table.add_row(*_row(trial, outcome))
    console.print(table)
    if outcome.is_default:
        console.print(f"the default is best: {outcome.default.sentence()}", markup=False)
    else:
        console.print(f"best: {outcome.chosen.sentence(outcome.default.provider)}", markup=False)
        if outcome.ratio is not None and outcome.ratio_low is not None and outcome.ratio_high is not None:
            console.print(
                f"CPU time {outcome.ratio:.2f} x that of the default (95 %: {outcome.ratio_low:.2f} to "
                f"{outcome.ratio_high:.2f})"
            )


def _row(trial: Trial, outcome: Tuning) -> tuple[str, ...]:
    last = max(entry.round for entry in outcome.trials)
    setting = trial.setting
    cost = trial.error or ("-" if trial.cpu_per_audio is None else f"{trial.cpu_per_audio:.4f}")
    return (
        "final" if trial.round == last else str(trial.round + 1),
        setting.provider,
        str(setting.threads),
        ",".join(str(cpu) for cpu in setting.cpus),
        "on" if setting.allow_spinning else "off",
        str(setting.max_batch),
        cost,
        "no" if not trial.meets_gates else "hears worse" if trial.hears_worse else "yes",
        ", ".join(trial.violations),
    )
