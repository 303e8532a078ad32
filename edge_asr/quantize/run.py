"""A whole quantization: make, decode, judge, keep."""

from __future__ import annotations

import datetime as dt
import platform
import resource
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from edge_asr import __version__
from edge_asr.engines.trial import trial_load
from edge_asr.quantize.choices import Choice
from edge_asr.quantize.decoding import judging_settings
from edge_asr.quantize.document import FILE, AudioSet, ComponentRecord, Document, Origin, Point, Resources, encode
from edge_asr.quantize.evaluate import Evaluator
from edge_asr.quantize.evaluation_set import EvaluationSet, Recording, read_evaluation_set
from edge_asr.quantize.graph import Quantized
from edge_asr.quantize.output import REPORT_FILE, folder_bytes, require_writable, work_folder, write_model
from edge_asr.quantize.progress import Progress
from edge_asr.quantize.recipes import RecipeName, RecipeOptions, apply_recipe
from edge_asr.quantize.referee import Referee, require_decidable, with_speeds
from edge_asr.quantize.report_html import render_html
from edge_asr.quantize.speed import choose_for_speed, measure_speed
from edge_asr.quantize.targets import Target
from edge_asr.quantize.workshop import Made, Workshop, base_name, graph_files
from edge_asr.resources.cpu_features import common_features, read_processors
from edge_asr.scoring import score
from edge_asr.settings import Settings
from edge_asr.store.digest import sha256_of
from edge_asr.store.store import InstalledModel

SPEED_AUDIO_S = 60.0
"""Decoded by each model in each round of the comparison of speeds."""

PACKAGES = ("sherpa-onnx", "onnxruntime", "onnx", "numpy", "jiwer", "whisper-normalizer")
"""Those whose version changes what comes out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be done."""

    original: InstalledModel
    output: Path
    recipe: RecipeName | Literal["auto"]
    target: Target
    options: RecipeOptions = field(default_factory=RecipeOptions)
    evaluation: Path | None = None
    """Manifest of the recordings to judge by; ``None``: nothing is decoded."""
    calibration: Path | None = None
    budget: float | None = None
    """Absolute increase of the error rate, 0.005 for half a percentage point."""
    seed: int = 0
    settings: Settings = field(default_factory=Settings)
    vad_model: Path | None = None
    command: tuple[str, ...] = ()
    report: Path | None = None
    """Where the report is also written to."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it."""

    document: Document
    directory: Path | None
    """Where the model is; ``None`` where none was within the budget."""
    report: Path
    """The page."""


def quantize(order: Order, progress: Progress) -> Outcome:
    """Make the model that was ordered.

    Nothing appears under the output's name before everything is known. Transcripts stay in a folder beside it until
    then, so that an interrupted run goes on where it was.

    Raises:
        EdgeAsrError: The model, the recordings or the machine cannot do it.
    """
    require_writable(order.output)
    job = _Job(order, progress)
    job.make()
    job.judge()
    return job.finish()


class _Job:
    def __init__(self, order: Order, progress: Progress) -> None:
        self._order = order
        self._progress = progress
        self._began_s = time.monotonic()
        self._settings = judging_settings(order.settings)
        self._evaluation = self._read_evaluation()
        self._work = work_folder(order.output)
        self._work.mkdir(exist_ok=True)
        self._workshop = Workshop(order.original, self._work / "candidates")
        self._candidates: dict[str, Made] = {}
        self._original = self._workshop.unchanged()
        self._points: list[Point] = []
        self._kept = ""
        self._peak_disk_bytes = 0
        self._notes: list[str] = []

    # Steps.

    def make(self) -> None:
        """The candidate, by a fixed recipe; loaded once, in a child process."""
        order = self._order
        assert order.recipe != "auto"
        quantized = apply_recipe(order.recipe, self._workshop.components, order.target, order.options)
        made = self._make(order.recipe, quantized)
        trial_load(made.candidate.directory, made.candidate.manifest, self._settings.engine, vad_model=order.vad_model)

    def judge(self) -> None:
        """Decode what was made; the one to keep is the smallest of those within the budget."""
        if self._evaluation is None:
            (made,) = self._candidates.values()
            nodes = _nodes(made)
            self._points = [Point(name=made.name, verdict="not judged", size_bytes=made.graph_bytes, nodes=nodes)]
            self._kept = made.name
            return
        evaluator = Evaluator(self._evaluation, self._settings, self._work / "decoded", self._order.vad_model)
        self._progress.stage("decoding with the original", len(self._evaluation.recordings))
        original = evaluator.evaluate(
            self._original.candidate, on_recording=lambda done, _total: self._progress.advance(done)
        )
        referee = Referee(evaluator, original, self._order.budget, self._progress)
        for made in self._candidates.values():
            referee.judge(made)
        self._points = [referee.point_of_original(self._original), *referee.points]
        self._keep(referee)
        self._measure_speed()

    def finish(self) -> Outcome:
        """Write what was kept, and the report in any case."""
        order = self._order
        document = self._document()
        page = render_html(document)
        if order.report is not None:
            order.report.write_text(page, encoding="utf-8")
        if not self._kept:
            report = order.report or order.output.absolute().with_name(f"{order.output.name}.{REPORT_FILE}")
            report.write_text(page, encoding="utf-8")
            return Outcome(document, None, report)

        def fill(directory: Path) -> None:
            (directory / FILE).write_bytes(encode(document))
            (directory / REPORT_FILE).write_text(page, encoding="utf-8")

        name = f"{base_name(order.original.manifest.name)}-{order.recipe}"
        write_model(order.output, self._candidates[self._kept], name, fill)
        shutil.rmtree(self._work)
        return Outcome(document, order.output, order.report or order.output / REPORT_FILE)

    # Inside.

    def _read_evaluation(self) -> EvaluationSet | None:
        if self._order.evaluation is None:
            return None
        languages = self._order.original.manifest.languages
        self._progress.stage("reading the evaluation set", 1)
        evaluation = read_evaluation_set(self._order.evaluation, languages[0] if languages else "en", self._read)
        if self._order.budget is not None:
            require_decidable(evaluation, self._order.budget)
        return evaluation

    def _read(self, done: int, total: int) -> None:
        if done == 1:
            self._progress.stage("reading the evaluation set", total)
        self._progress.advance(done)

    def _make(self, name: str, quantized: Mapping[str, Quantized]) -> Made:
        made = self._workshop.make(name, quantized)
        self._candidates[name] = made
        self._peak_disk_bytes = max(self._peak_disk_bytes, folder_bytes(self._work))
        return made

    def _keep(self, referee: Referee) -> None:
        point = next(point for point in referee.points if point.name == self._order.recipe)
        if point.verdict == "failed":
            self._notes.append(f"{point.name} cannot be used: {point.note}")
        elif self._order.budget is None or point.verdict == "within":
            self._kept = point.name
        elif point.verdict == "undecided":
            self._notes.append(referee.why_undecided(point.name))

    def _measure_speed(self) -> None:
        assert self._evaluation is not None
        failed = {point.name for point in self._points if point.verdict == "failed"}
        candidates = {
            made.name: made.candidate
            for made in (self._original, *self._candidates.values())
            if made.name not in failed
        }
        recordings = choose_for_speed(self._evaluation.recordings, SPEED_AUDIO_S, self._order.seed)
        self._progress.stage("comparing speeds", 1)
        speeds = measure_speed(candidates, recordings, self._settings, self._order.vad_model)
        self._points = with_speeds(self._points, speeds, self._original.name)

    def _document(self) -> Document:
        order, manifest = self._order, self._order.original.manifest
        processors = read_processors()
        features = common_features(processors)
        is_x86 = platform.machine() in ("x86_64", "AMD64")
        return Document(
            created=dt.datetime.now().astimezone().isoformat(timespec="seconds"),
            command=order.command,
            versions=_versions(),
            processor=processors[0].name if processors else platform.machine(),
            has_vnni=features.dot_product if features and is_x86 else None,
            origin=Origin(
                name=manifest.name,
                version=manifest.version,
                family=manifest.family,
                licence=manifest.licence,
                directory=str(order.original.directory),
                files={role: sha256_of(order.original.directory / file.path) for role, file in manifest.files.items()},
            ),
            recipe=order.recipe,
            target=order.target.name,
            why=order.target.why,
            seed=order.seed,
            budget=order.budget,
            metric=self._evaluation.metric if self._evaluation else "wer",
            normaliser=score([], [], self._evaluation.language).normaliser if self._evaluation else "",
            blocks=len(set(self._evaluation.blocks)) if self._evaluation else 0,
            kept=self._kept,
            points=tuple(self._points),
            components=self._components(),
            evaluation=_audio_set(str(order.evaluation), self._evaluation.recordings) if self._evaluation else None,
            resources=self._resources(),
            notes=(*self._workshop.notes, *self._notes),
        )

    def _components(self) -> tuple[ComponentRecord, ...]:
        if not self._kept:
            return ()
        made = self._candidates[self._kept]
        before = graph_files(self._order.original)
        after = graph_files(InstalledModel(made.candidate.manifest, made.candidate.directory))
        records = []
        for role, path in after.items():
            counts = made.counts.get(role)
            records.append(
                ComponentRecord(
                    role=role,
                    original_bytes=before[role].stat().st_size,
                    bytes=path.stat().st_size,
                    nodes=dict(counts.quantized) if counts else {},
                    operators_before=dict(counts.before) if counts else {},
                    operators_after=dict(counts.after) if counts else {},
                )
            )
        return tuple(records)

    def _resources(self) -> Resources:
        own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return Resources(
            wall_s=round(time.monotonic() - self._began_s, 1),
            cpu_s=round(own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime, 1),
            peak_memory_bytes=max(own.ru_maxrss, children.ru_maxrss) * 1024,
            peak_disk_bytes=self._peak_disk_bytes,
        )


def _nodes(made: Made) -> dict[Choice, int]:
    total: dict[Choice, int] = {}
    for counts in made.counts.values():
        for choice, count in counts.quantized.items():
            total[choice] = total.get(choice, 0) + count
    return total


def _audio_set(source: str, recordings: tuple[Recording, ...]) -> AudioSet:
    return AudioSet(
        source=source,
        recordings=len(recordings),
        audio_s=round(sum(one.audio_s for one in recordings), 3),
        units=sum(one.units for one in recordings),
        sha256=tuple(one.sha256 for one in recordings),
    )


def _versions() -> dict[str, str]:
    found = {"edge-asr": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
