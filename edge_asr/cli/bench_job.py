"""The work of ``bench``: what was asked for becomes tasks, results become a document, and the document is shown."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from edge_asr.bench.child import ClipTask, Task
from edge_asr.bench.document import Configuration, Document, Mode, ModelIdentity, Result, Run, encode
from edge_asr.bench.drift import SOAK_FROM_S
from edge_asr.bench.identity import model_identity, versions, workload_identity
from edge_asr.bench.judged import read_recordings
from edge_asr.bench.provider_choice import compare_providers, partial_sentences
from edge_asr.bench.run import Bench, run_bench
from edge_asr.bench.tiers import tier_sentences
from edge_asr.bench.wording import counted
from edge_asr.cli import exit_codes
from edge_asr.cli.bench_tiers import Tiers
from edge_asr.cli.bench_wishes import Wishes
from edge_asr.cli.messages import remark, warn
from edge_asr.cli.options import is_printed, write_named
from edge_asr.cli.stores import choose_model, open_store
from edge_asr.engines.provider_table import PROVIDERS
from edge_asr.engines.providers import providers_of
from edge_asr.errors import InputError, error_of
from edge_asr.manifest import ModelManifest
from edge_asr.resources.board import read_board
from edge_asr.resources.topology import read_topology
from edge_asr.settings import Settings
from edge_asr.store.store import InstalledModel
from edge_asr.store.voice_activity import installed_vad
from edge_asr.workers.configuration import pack
from edge_asr.workload import ClipAudio, bundled_clips, clips_for, load_clip

IDLE_S = 5.0
"""Silence at live pace before a paced run, to see what an idle session costs."""

WARM_UP_GUESS_S = 4.0
"""For the estimate: start, load and warm-up of one process."""


SettingsOf = Callable[[str], Settings]
"""The configuration for a model by its name, what was tuned for it included; for an empty name that of the default."""


def run_job(wishes: Wishes, settings_of_model: SettingsOf) -> int:
    """Measure, show, write; the exit code.

    Raises:
        EdgeAsrError: Nothing could be measured at all.
    """
    measured = _of_daemon(wishes) if wishes.url else _of_models(wishes, settings_of_model)
    document = Document(
        created=dt.datetime.now().astimezone().isoformat(timespec="seconds"),
        command=("edge-asr", *sys.argv[1:]),
        seed=wishes.seed,
        versions=versions(),
        board=msgspec.to_builtins(read_board(), enc_hook=plain),
        settings=msgspec.to_builtins(measured.settings) if measured.settings else {},
        models=tuple(measured.models),
        workload=workload_identity(str(wishes.audio or "bundled"), measured.clips, measured.language),
        results=tuple(measured.results),
        notes=tuple(_notes(wishes, measured)),
    )
    show(document, wishes)
    return exit_codes.INTERRUPTED if measured.is_interrupted else exit_code(document)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    results: Sequence[Result]
    is_interrupted: bool
    models: Sequence[ModelIdentity]
    clips: Sequence[ClipAudio]
    language: str
    settings: Settings | None = None


def _of_models(wishes: Wishes, settings_of_model: SettingsOf) -> _Measured:
    store = open_store()
    settings = settings_of_model("")
    named = [store.resolve(name) for name in wishes.models] or [choose_model(store, settings.model)]
    tiers = Tiers.of(store, named, settings.second_pass, is_asked_for=wishes.asks_for_second_pass)
    models = tiers.models
    workload = Workloads(wishes.audio)
    topology = read_topology()
    tasks = [
        msgspec.structs.replace(
            task_of(
                configuration,
                own,
                model,
                workload.clips(None if tiers.second else model),  # all hear the same, whatever words they know
                installed_vad(store),
                tiers.second,
            ),
            seconds=wishes.seconds,
            least_audio_s=wishes.seconds,
            idle_s=IDLE_S if configuration.mode == "paced" else 0.0,
        )
        for model in models
        for own in [settings_of_model(model.manifest.name)]
        for configuration in wishes.sweep(own).configurations(model.manifest.name, topology, tiers.behind(model))
        if len(models) == 1 or not is_for_others(model.manifest, configuration.provider, wishes.providers or ())
    ]
    remark(_estimate(wishes, [task.configuration.mode for task in tasks]))
    bench = Bench(
        tasks=tasks,
        repetitions=wishes.repetitions,
        seed=wishes.seed,
        profiles_operators=wishes.profiles_operators,
        malloc_arenas=settings.worker.malloc_arenas,
        second_tries=0 if wishes.soak_s else wishes.repetitions,
    )
    outcome = run_bench(bench, show_progress(), on_set_aside=say_set_aside)
    return _Measured(
        results=outcome.results,
        is_interrupted=outcome.is_interrupted,
        models=[model_identity(model) for model in models],
        clips=workload.loaded(),
        language=tasks[0].language,
        settings=settings,
    )


def _of_daemon(wishes: Wishes) -> _Measured:
    from edge_asr.cli.bench_daemon import Wanted, find_daemon, measure_daemon

    daemon = find_daemon(wishes.url, wishes.token_file)
    model = open_store().installed_or_none(daemon.model)
    workload = Workloads(wishes.audio)
    wanted = Wanted(
        modes=wishes.modes,
        streams=wishes.streams,
        pieces_ms=wishes.pieces_ms,
        repetitions=wishes.repetitions,
        seconds=wishes.seconds,
        idle_s=IDLE_S,
        seed=wishes.seed,
    )
    remark(_estimate(wishes, [mode for mode in wishes.modes for _ in wishes.streams for _ in wishes.pieces_ms]))
    clips = workload.clips(model)
    results, is_interrupted = measure_daemon(
        daemon, clips, wanted, show_progress(), lambda: find_daemon(wishes.url, wishes.token_file).restarts
    )
    # Of a daemon elsewhere, a model of the same name here may be another one.
    is_same = model is not None and daemon.front_pid is not None
    return _Measured(
        results=results,
        is_interrupted=is_interrupted,
        models=[model_identity(model)] if is_same and model is not None else [],
        clips=workload.loaded(),
        language=daemon.language,
    )


def _notes(wishes: Wishes, measured: _Measured) -> Iterator[str]:
    if measured.is_interrupted:
        yield "interrupted: later runs are missing"
    if 0 < wishes.soak_s < SOAK_FROM_S:
        yield f"a soak of less than {SOAK_FROM_S / 60:.0f} minutes says nothing of drift"
    yield from partial_sentences(measured.results)
    yield from tier_sentences(measured.results)
    for streams in sorted({result.configuration.streams for result in measured.results}):
        beside = [
            result
            for result in measured.results
            if result.configuration.streams == streams and not result.configuration.second_pass
        ]
        if choice := compare_providers(beside):
            yield f"{counted(streams, 'stream')}: {choice.sentence}"
    for result in measured.results:
        if result.set_aside:
            yield f"{result.configuration.label()}: {_set_aside(result.set_aside)}"


def _set_aside(runs: Sequence[Run]) -> str:
    reasons = sorted({violation.code.replace("_", " ") for run in runs for violation in run.violations})
    count = f"{len(runs)} run was" if len(runs) == 1 else f"{len(runs)} runs were"
    return f"{count} disturbed ({', '.join(reasons)}), set aside and measured again"


class Workloads:
    """The recordings: those that were named, or for each model those of the package it can be judged by."""

    def __init__(self, audio: Path | None) -> None:
        self._given = read_recordings(audio) if audio else None
        self._audio: dict[str, ClipAudio] = {}

    def clips(self, model: InstalledModel | None) -> list[ClipAudio]:
        """For this model, or for one of which nothing is known.

        Raises:
            InputError: None of the recordings can be used.
        """
        # A closed vocabulary is what the note about words is for.
        named = self._given or clips_for(
            bundled_clips(), knows_all_words=model is None or not model.manifest.words_note
        )
        usable = []
        for clip in named:
            if clip.name not in self._audio:
                try:
                    self._audio[clip.name] = load_clip(clip)
                except InputError as error:
                    warn(f"left out: {error}")
                    continue
            usable.append(self._audio[clip.name])
        if not usable:
            raise InputError("none of the recordings can be used")
        return usable

    def loaded(self) -> list[ClipAudio]:
        """All that were used, in order."""
        return list(self._audio.values())


def task_of(
    configuration: Configuration,
    settings: Settings,
    model: InstalledModel,
    clips: Sequence[ClipAudio],
    vad_model: Path | None,
    second: InstalledModel | None = None,
) -> Task:
    """One model in one configuration, listening to these recordings; ``second`` is that of the configuration."""
    language = model.manifest.languages[0] if model.manifest.languages else "en"
    listen_to = tuple(
        ClipTask(
            name=audio.clip.name,
            path=str(audio.clip.path.absolute()),
            reference=audio.clip.reference,
            vocabulary=audio.clip.vocabulary,
            words=tuple((word.text, word.start_s, word.end_s) for word in audio.clip.words),
        )
        for audio in clips
    )
    behind = second.directory if second and configuration.second_pass else None
    return Task(
        configure=pack(model.directory, settings_of(configuration, settings), vad_model, second_model=behind),
        configuration=configuration,
        clips=listen_to,
        clips_s=sum(audio.audio_s for audio in clips),
        language=language,
    )


def settings_of(configuration: Configuration, settings: Settings) -> Settings:
    """The settings with what the configuration varies."""
    return replace(
        settings,
        engine=replace(
            settings.engine,
            provider=configuration.provider,
            threads=configuration.threads,
            allow_spinning=configuration.allow_spinning,
        ),
        scheduler=replace(settings.scheduler, max_batch=configuration.max_batch, window_ms=configuration.window_ms),
        worker=replace(settings.worker, cpus=configuration.cpus),
    )


def is_for_others(manifest: ModelManifest, provider: str, asked: Sequence[str]) -> bool:
    """Whether a model's files are for others of the providers that were asked for, and not for this one.

    A model for an NPU and the one that it was made from are compared by naming both; each runs where it can.
    """
    runnable = providers_of(manifest)
    return provider in PROVIDERS and provider not in runnable and any(each in runnable for each in asked)


def exit_code(document: Document) -> int:
    """Worst first: what could not be measured, by its own code; then what was disturbed or drifted."""
    failed = [result for result in document.results if result.error]
    if failed:
        return exit_codes.exit_code_of(error_of(failed[0].error_code, failed[0].error))
    has_drifted = any(result.drifts for result in document.results)
    return exit_codes.DONE if document.is_valid and not has_drifted else exit_codes.GATE


def show(document: Document, wishes: Wishes) -> None:
    """The table on standard output, the files where they were asked for; ``--json -`` takes the table's place."""
    if wishes.json_path is not None:
        write_named(wishes.json_path, encode(document))
    if wishes.html_path is not None:
        from edge_asr.bench.report_html import render_html

        wishes.html_path.write_text(render_html(document), encoding="utf-8")
    if is_printed(wishes.json_path):
        return
    if wishes.is_markdown:
        from edge_asr.bench.report_markdown import render_markdown

        sys.stdout.write(render_markdown(document))
        return
    from edge_asr.cli.bench_table import BenchTable
    from edge_asr.cli.console import results_console

    results_console().print(BenchTable(document))


def show_progress() -> Callable[[int, int, Configuration], None]:
    """What is measured now, on standard error where that is a terminal."""

    def say(number: int, total: int, configuration: Configuration) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{number + 1}/{total}  {configuration.label()}")
            sys.stderr.flush()
        if number + 1 == total and sys.stderr.isatty():
            sys.stderr.write("\n")

    return say


def say_set_aside(configuration: Configuration, run: Run) -> None:
    """At once, for the estimate of how long it takes no longer holds."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")  # the line of progress
    why = "; ".join(violation.message for violation in run.violations)
    remark(f"a run of {configuration.label()} was disturbed and is measured again: {why}")


def _estimate(wishes: Wishes, modes: Sequence[Mode]) -> str:
    paced = sum(mode == "paced" for mode in modes)
    seconds = wishes.repetitions * (paced * (wishes.seconds + 8) + len(modes) * WARM_UP_GUESS_S)
    runs = wishes.repetitions * len(modes)
    if wishes.soak_s and not paced:
        return f"{_minutes(wishes.soak_s)} of audio, as fast as they are decoded"
    return f"{runs} run{'' if runs == 1 else 's'}, about {_minutes(seconds)}; Ctrl-C shows what was measured so far"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def plain(value: Any) -> Any:  # noqa: ANN401  msgspec's hook
    """What msgspec does not know how to write, such as a set of cores."""
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise NotImplementedError(f"{type(value).__name__} has no place in a document")
