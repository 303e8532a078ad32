"""The work of ``bench``: what was asked for becomes tasks, results become a document, and the document is shown."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import msgspec

from edge_asr.bench.child import ClipTask, Task
from edge_asr.bench.document import Configuration, Document, Mode, Result, encode
from edge_asr.bench.identity import model_identity, versions, workload_identity
from edge_asr.bench.run import Bench, run_bench
from edge_asr.bench.sweep import Sweep, parse_cores, parse_numbers
from edge_asr.cli import exit_codes
from edge_asr.cli.durations import parse_duration_s
from edge_asr.cli.messages import remark, warn
from edge_asr.cli.stores import choose_model, installed_vad, open_store
from edge_asr.engines.providers import known_provider
from edge_asr.errors import ConfigurationError, InputError, error_of
from edge_asr.resources.board import read_board
from edge_asr.resources.topology import read_topology
from edge_asr.settings import Settings
from edge_asr.store.store import InstalledModel
from edge_asr.workers.configuration import pack
from edge_asr.workload import ClipAudio, bundled_clips, clips_for, load_clip, read_clips

IDLE_S = 5.0
"""Silence at live pace before a paced run, to see what an idle session costs."""

WARM_UP_GUESS_S = 4.0
"""For the estimate: start, load and warm-up of one process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the user asked for, checked."""

    models: tuple[str, ...]
    audio: Path | None
    sweep: Sweep
    url: str
    soak_s: float
    """0: no soak."""
    accelerates: bool
    profiles_operators: bool
    repetitions: int
    seconds: float
    seed: int
    json_path: Path | None
    html_path: Path | None
    is_markdown: bool

    @classmethod
    def checked(
        cls,
        *,
        models: tuple[str, ...],
        audio: Path | None,
        mode: str,
        threads: str,
        streams: str,
        cpus: tuple[str, ...],
        providers: str | None,
        pieces: str,
        batch: str | None,
        spinning: str,
        url: str | None,
        soak: str | None,
        accelerates: bool,
        profiles_operators: bool,
        repetitions: int,
        seconds: float,
        seed: int,
        json_path: Path | None,
        html_path: Path | None,
        is_markdown: bool,
        settings: Settings,
    ) -> Wishes:
        """From the words of the command line.

        Raises:
            ConfigurationError: A word is wrong, or two do not go together.
        """
        if accelerates and not soak:
            raise ConfigurationError("--accelerate belongs to --soak; add e.g. --soak 24h")
        if url and (models or cpus or providers or profiles_operators or batch):
            raise ConfigurationError(
                "--url measures a daemon as it runs; its model, cores and provider are set where it is started"
            )
        for path in (json_path, html_path):
            if path is not None and not path.absolute().parent.is_dir():
                raise ConfigurationError(f"{path}: there is no such folder to write to")
        sweep = Sweep(
            modes=cast("list[Mode]", ["throughput", "paced"] if mode == "both" else [mode]),
            providers=[known_provider(name) for name in (providers or settings.engine.provider).split(",")],
            threads=parse_numbers(threads, "--threads", 1, 64),
            cpus=[parse_cores(text) for text in cpus],
            streams=parse_numbers(streams, "--streams", 1, 1000),
            pieces_ms=parse_numbers(pieces, "--pieces", 10, 5000),
            batches=parse_numbers(batch, "--batch", 1, 256) if batch else (settings.scheduler.max_batch,),
            spinning={"off": (False,), "on": (True,), "both": (False, True)}[spinning],
        )
        soak_s = parse_duration_s(soak, "--soak") if soak else 0.0
        if soak_s:
            sweep = replace(sweep, modes=["throughput" if accelerates else "paced"])
        return cls(
            models=models,
            audio=audio,
            sweep=sweep,
            url=url or "",
            soak_s=soak_s,
            accelerates=accelerates,
            profiles_operators=profiles_operators,
            repetitions=1 if soak_s else repetitions,
            seconds=soak_s or seconds,
            seed=seed,
            json_path=json_path,
            html_path=html_path,
            is_markdown=is_markdown,
        )


def run_job(wishes: Wishes, settings: Settings) -> int:
    """Measure, show, write; the exit code.

    Raises:
        EdgeAsrError: Nothing could be measured at all.
    """
    store = open_store()
    models = [store.resolve(name) for name in wishes.models] or [choose_model(store, settings.model)]
    workload = Workloads(wishes.audio)
    topology = read_topology()
    tasks = [
        msgspec.structs.replace(
            task_of(configuration, settings, model, workload.clips(model), installed_vad(store)),
            seconds=wishes.seconds,
            least_audio_s=wishes.seconds,
            idle_s=IDLE_S if configuration.mode == "paced" else 0.0,
        )
        for model in models
        for configuration in wishes.sweep.configurations(model.manifest.name, topology)
    ]
    remark(_estimate(wishes, tasks))
    language = models[0].manifest.languages[0] if models[0].manifest.languages else "en"
    results, is_interrupted = _measured(wishes, settings, tasks)
    document = Document(
        created=dt.datetime.now().astimezone().isoformat(timespec="seconds"),
        command=("edge-asr", *sys.argv[1:]),
        seed=wishes.seed,
        versions=versions(),
        board=msgspec.to_builtins(read_board(), enc_hook=plain),
        settings=msgspec.to_builtins(settings),
        models=tuple(model_identity(model) for model in models),
        workload=workload_identity(str(wishes.audio or "bundled"), workload.loaded(), language),
        results=tuple(results),
        notes=("interrupted: later runs are missing",) if is_interrupted else (),
    )
    show(document, wishes)
    return exit_codes.INTERRUPTED if is_interrupted else exit_code(document)


class Workloads:
    """The recordings: those that were named, or for each model those of the package it can be judged by."""

    def __init__(self, audio: Path | None) -> None:
        self._given = read_clips(audio) if audio else None
        self._audio: dict[str, ClipAudio] = {}

    def clips(self, model: InstalledModel) -> list[ClipAudio]:
        """For this model.

        Raises:
            InputError: None of the recordings can be used.
        """
        # A closed vocabulary is what the note about words is for.
        named = self._given or clips_for(bundled_clips(), knows_all_words=not model.manifest.words_note)
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
) -> Task:
    """One model in one configuration, listening to these recordings."""
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
    return Task(
        configure=pack(model.directory, settings_of(configuration, settings), vad_model),
        configuration=configuration,
        clips=listen_to,
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
        scheduler=replace(settings.scheduler, max_batch=configuration.max_batch),
        worker=replace(settings.worker, cpus=configuration.cpus),
    )


def exit_code(document: Document) -> int:
    """Worst first: what could not be measured, by its own code; then what was disturbed or drifted."""
    failed = [result for result in document.results if result.error]
    if failed:
        return exit_codes.exit_code_of(error_of(failed[0].error_code, failed[0].error))
    has_drifted = any(result.drifts for result in document.results)
    return exit_codes.DONE if document.is_valid and not has_drifted else exit_codes.GATE


def show(document: Document, wishes: Wishes) -> None:
    """The table on standard output, the files where they were asked for."""
    if wishes.json_path is not None:
        wishes.json_path.write_bytes(encode(document))
    if wishes.html_path is not None:
        from edge_asr.bench.report_html import render_html

        wishes.html_path.write_text(render_html(document), encoding="utf-8")
    if wishes.is_markdown:
        from edge_asr.bench.report_markdown import render_markdown

        sys.stdout.write(render_markdown(document))
        return
    from rich.console import Console

    from edge_asr.cli.bench_table import BenchTable

    Console(highlight=False).print(BenchTable(document))


def _measured(wishes: Wishes, settings: Settings, tasks: Sequence[Task]) -> tuple[list[Result], bool]:
    bench = Bench(
        tasks=tasks,
        repetitions=wishes.repetitions,
        seed=wishes.seed,
        profiles_operators=wishes.profiles_operators,
        malloc_arenas=settings.worker.malloc_arenas,
    )
    outcome = run_bench(bench, show_progress())
    return outcome.results, outcome.is_interrupted


def show_progress() -> Callable[[int, int, Configuration], None]:
    """What is measured now, on standard error where that is a terminal."""

    def say(number: int, total: int, configuration: Configuration) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{number + 1}/{total}  {configuration.label()}")
            sys.stderr.flush()
        if number + 1 == total and sys.stderr.isatty():
            sys.stderr.write("\n")

    return say


def _estimate(wishes: Wishes, tasks: Sequence[Task]) -> str:
    paced = sum(task.configuration.mode == "paced" for task in tasks)
    seconds = wishes.repetitions * (paced * (wishes.seconds + 8) + len(tasks) * WARM_UP_GUESS_S)
    runs = wishes.repetitions * len(tasks)
    return f"{runs} runs, about {_minutes(seconds)}; Ctrl-C shows what was measured so far"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def plain(value: Any) -> Any:  # noqa: ANN401  msgspec's hook
    """What msgspec does not know how to write, such as a set of cores."""
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise NotImplementedError(f"{type(value).__name__} has no place in a document")
