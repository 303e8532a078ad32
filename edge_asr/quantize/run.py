"""A whole quantization: make, decode, judge, keep."""

from __future__ import annotations

import datetime as dt
import platform
import resource
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from edge_asr.engines.ort_streaming import StreamingRunner
from edge_asr.engines.trial import trial_load
from edge_asr.errors import ConfigurationError, InputError
from edge_asr.quantize.calibrate import MOST_AUDIO_S, calibration_audio, choose_recordings
from edge_asr.quantize.decoding import judging_settings
from edge_asr.quantize.document import FILE, STOCK, AudioSet, Document, Point, Resources, encode
from edge_asr.quantize.evaluate import Evaluator, processes_for
from edge_asr.quantize.evaluation_set import (
    EvaluationSet,
    Recording,
    look_at,
    read_evaluation_set,
    require_apart,
    set_apart,
)
from edge_asr.quantize.graph import Quantized, quantizable_nodes
from edge_asr.quantize.moments import measure_moments
from edge_asr.quantize.noise_ear import NoiseEar
from edge_asr.quantize.output import REPORT_FILE, folder_bytes, require_writable, work_folder, write_model
from edge_asr.quantize.panel import Panel
from edge_asr.quantize.progress import Progress
from edge_asr.quantize.recipes import PRODUCTS, RecipeName, RecipeOptions, apply_recipe, kept_components
from edge_asr.quantize.record import audio_set, component_records, node_records, origin_of, versions
from edge_asr.quantize.recorded_steps import RecordedSteps
from edge_asr.quantize.referee import Referee, choices_in, require_decidable, with_speeds
from edge_asr.quantize.report_html import render_html
from edge_asr.quantize.search import Search, Searched
from edge_asr.quantize.sensitivity import Comparer, Ear
from edge_asr.quantize.speed import Speeds, choose_for_speed, measure_speed
from edge_asr.quantize.static import static_int8
from edge_asr.quantize.stock import stock_int8
from edge_asr.quantize.targets import Target
from edge_asr.quantize.workshop import Made, Workshop, base_name, graph_files
from edge_asr.resources.cpu_features import common_features, read_processors
from edge_asr.scoring import score
from edge_asr.settings import Settings
from edge_asr.store.store import InstalledModel
from edge_asr.workload import bundled_clips, read_clips

SPEED_AUDIO_S = 60.0
"""Decoded by each model in each round of the comparison of speeds."""

TIMED = 4
"""Of the accepted models the smallest so many are timed."""

CALIBRATION_SHARE = 0.1
"""Of the evaluation set, where no calibration recordings are given; those no longer judge."""

SENSITIVITY_AUDIO_S = 20.0
"""Heard once for every node and choice: most of the time of a search."""


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
    """Manifest or folder; ``None``: a part of the evaluation set, or the recordings inside the package."""
    budget: float | None = None
    """Absolute increase of the error rate, 0.005 for half a percentage point."""
    seed: int = 0
    settings: Settings = field(default_factory=Settings)
    vad_model: Path | None = None
    command: tuple[str, ...] = ()
    file_format: Literal["onnx", "ort"] = "onnx"
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

    Nothing appears under the output's name before everything is known. What was measured stays in a folder beside it
    until then, so that an interrupted run goes on where it was.

    Raises:
        EdgeAsrError: The model, the recordings or the machine cannot do it.
    """
    require_writable(order.output)
    job = _Job(order, progress)
    try:
        if order.recipe == "auto":
            job.search()
        else:
            job.follow(order.recipe)
        return job.finish()
    except KeyboardInterrupt:
        progress.say(f"what was measured is kept in {work_folder(order.output)}; the same command goes on from there")
        raise


def needs_calibration(order: Order) -> bool:
    """Whether recordings are needed to make the model, not only to judge it."""
    return order.recipe in ("auto", "int8-static") or order.options.weights.algorithm == "gptq"


def is_x86() -> bool:
    """Whether this machine is one."""
    return platform.machine() in ("x86_64", "AMD64")


def smallest_fast_enough(ratios: Mapping[str, float], yardstick: str) -> tuple[str, str]:
    """Which of several accepted models is kept, and what is to be said about it.

    Args:
        ratios: Models in the order of their size, the smallest first, to their CPU time over that of the yardstick.
        yardstick: Its name.
    """
    smallest = next(iter(ratios))
    kept = next((name for name, ratio in ratios.items() if ratio <= 1.0), smallest)
    if kept != smallest:
        return kept, f"{smallest} is smaller but takes {ratios[smallest]:.2f} times the CPU time of {yardstick} here"
    if ratios[kept] > 1.0:
        return kept, f"{kept} takes {ratios[kept]:.2f} times the CPU time of {yardstick} here"
    return kept, ""


class _Job:
    """One quantization, from the recordings to the directory."""

    def __init__(self, order: Order, progress: Progress) -> None:
        self._order = order
        self._progress = progress
        self._began_s = time.monotonic()
        self._settings = judging_settings(order.settings)
        self._evaluation, self._calibration = self._read_recordings()
        self._work = work_folder(order.output)
        self._work.mkdir(exist_ok=True)
        self._workshop = Workshop(order.original, self._work / "candidates")
        self._original = self._workshop.unchanged()
        self._candidates: dict[str, Made] = {}
        self._points: list[Point] = []
        self._kept = ""
        self._searched: Searched | None = None
        self._notes: list[str] = []
        self._peak_disk_bytes = 0
        self._decode_s = 0.0

    # A fixed recipe.

    def follow(self, recipe: RecipeName) -> None:
        """Make what the recipe says; keep it unless it is over the budget."""
        made = self._make(recipe, self._by_recipe(recipe))
        trial_load(
            made.candidate.directory,
            made.candidate.manifest,
            self._settings.engine,
            vad_model=self._order.vad_model,
        )
        referee = self._referee()
        if referee is None:
            self._points = [
                Point(name=made.name, verdict="not judged", size_bytes=made.graph_bytes, nodes=choices_in(made))
            ]
            self._kept = made.name
            return
        point = referee.judge(made)
        self._points = [referee.point_of_original(self._original), *referee.points]
        if point.verdict == "failed":
            self._notes.append(f"{point.name} cannot be used: {point.note}")
        elif self._order.budget is None or point.verdict == "within":
            self._kept = point.name
        elif point.verdict == "undecided":
            self._notes.append(referee.why_undecided(point.name))
        self._time(made for made in (self._original, made) if point.verdict != "failed")

    def _by_recipe(self, recipe: RecipeName) -> dict[str, Quantized]:
        components, order = self._workshop.components, self._order
        if not needs_calibration(order):
            return apply_recipe(recipe, components, order.target, order.options)
        steps = self._record_steps()
        if recipe == "int8-static":
            return static_int8(components, steps, order.options)
        moments = {}
        for role, prepared in components.items():
            names = [node.name for node in quantizable_nodes(prepared, role, order.target) if node.operator in PRODUCTS]
            moments[role] = measure_moments(prepared, names, partial(steps.read, role))
        return apply_recipe(recipe, components, order.target, order.options, moments)

    def _record_steps(self) -> RecordedSteps:
        """What goes into every graph while the original hears the calibration recordings."""
        self._progress.stage("listening to the calibration recordings", 1)
        manifest = self._order.original.manifest
        recordings = choose_recordings(self._calibration, self._order.seed)
        runner = StreamingRunner(
            graph_files(self._order.original), self._workshop.family, sample_rate_hz=manifest.sample_rate_hz
        )
        folder = self._work / "steps"
        shutil.rmtree(folder, ignore_errors=True)
        steps = RecordedSteps(folder)
        steps.record(runner, calibration_audio(recordings, manifest.sample_rate_hz, self._order.seed))
        return steps

    # The search.

    def search(self) -> None:
        """Find the smallest model within the budget that is no slower than the usual int8."""
        order = self._order
        ear = self._ear()
        panel = Panel(ear, self._referee())
        stock = self._make(STOCK, stock_int8(graph_files(order.original)))
        usual = self._make("int8", apply_recipe("int8", self._workshop.components, order.target, order.options))
        panel.judge(stock)
        panel.limit = panel.divergence(usual).harm
        is_usual_accepted = panel.judge(usual).verdict == "within"
        search = Search(
            self._workshop,
            ear,
            order.target,
            panel,
            self._work / "sensitivity",
            self._progress,
            kept=kept_components(self._workshop.components, order.options),
            measures_time=is_x86() and order.target.name == "x86",
            spare_s=self._spare_s(stock, usual, panel),
            decode_s=self._decode_s,
        )
        self._searched = found = search.run()
        found.assignments[usual.name] = {
            (node.component, node.name): "int8" for node in found.nodes if node.operator in PRODUCTS
        }
        accepted = sorted([*found.accepted, *([usual] if is_usual_accepted else [])], key=lambda made: made.graph_bytes)
        self._candidates |= {made.name: made for made in accepted}
        self._points = panel.points(self._original)
        self._peak_disk_bytes = max(self._peak_disk_bytes, folder_bytes(self._work))
        self._choose(accepted, stock, panel)

    def _ear(self) -> Comparer:
        order = self._order
        self._progress.stage("listening with the original", 1)
        if self._workshop.family.kind != "streaming":
            if self._evaluation is None:
                raise ConfigurationError(
                    "models that do not stream are searched by their errors only; add --eval MANIFEST, or name a recipe"
                )
            return NoiseEar(self._workshop.components)
        recordings = choose_recordings(self._calibration, order.seed, SENSITIVITY_AUDIO_S)
        audio = calibration_audio(recordings, order.original.manifest.sample_rate_hz, order.seed)
        return Ear(self._workshop, audio, self._work / "steps")

    def _spare_s(self, stock: Made, usual: Made, panel: Panel) -> float:
        """How much longer a step of our int8 may take without being slower than the usual one."""
        failed = {point.name for point in panel.points(self._original) if point.verdict == "failed"}
        chunk_s = self._order.original.manifest.chunk_ms / 1000
        if failed & {stock.name, usual.name} or not chunk_s:
            return 0.0
        self._progress.stage("comparing speeds", 1)
        recordings = self._evaluation.recordings if self._evaluation else self._calibration
        speeds = measure_speed(
            {made.name: made.candidate for made in (stock, usual)},
            choose_for_speed(recordings, SPEED_AUDIO_S, self._order.seed),
            self._settings,
            self._order.vad_model,
        )
        return (speeds.rtf_cpu(stock.name) - speeds.rtf_cpu(usual.name)) * chunk_s

    def _choose(self, accepted: list[Made], stock: Made, panel: Panel) -> None:
        """Of the accepted models the smallest that is no slower than the usual int8."""
        if not accepted:
            if panel.referee is not None:
                undecided = [point.name for point in self._points if point.verdict == "undecided"]
                self._notes += [panel.referee.why_undecided(name) for name in undecided]
            return
        candidates = accepted[:TIMED]
        verdicts = {point.name: point.verdict for point in self._points}
        beside = [self._original, *([] if verdicts[stock.name] == "failed" else [stock])]
        speeds = self._time([*beside, *candidates])
        if speeds is None:
            self._kept = candidates[0].name
            return
        # What the usual int8 has ruined may be fast for that very reason.
        yardstick = stock if verdicts[stock.name] in ("within", "undecided") else self._original
        ratios = {made.name: speeds.ratio(made.name, yardstick.name).ratio or 1.0 for made in candidates}
        self._kept, note = smallest_fast_enough(ratios, yardstick.name)
        if note:
            self._notes.append(note)

    # The end.

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
        made = self._candidates[self._kept]
        if order.file_format == "ort":
            made = self._workshop.as_ort(made)
            trial_load(
                made.candidate.directory, made.candidate.manifest, self._settings.engine, vad_model=order.vad_model
            )
        write_model(order.output, made, name, fill)
        shutil.rmtree(self._work)
        return Outcome(document, order.output, order.report or order.output / REPORT_FILE)

    # Inside.

    def _read_recordings(self) -> tuple[EvaluationSet | None, list[Recording]]:
        """What judges, and what calibrates."""
        order = self._order
        languages = order.original.manifest.languages
        language = languages[0] if languages else "en"
        evaluation = None
        if order.evaluation is not None:
            self._progress.stage("reading the evaluation set", 1)
            evaluation = read_evaluation_set(order.evaluation, language, self._read)
        calibration: list[Recording] = []
        if order.calibration is not None:
            calibration = look_at(read_clips(order.calibration), language)
        elif needs_calibration(order) and evaluation is not None:
            calibration, evaluation = set_apart(evaluation, CALIBRATION_SHARE, order.seed)
        elif needs_calibration(order):
            calibration = look_at(bundled_clips(), language)
        if evaluation is not None:
            require_apart(calibration, evaluation)
            if not evaluation.recordings:
                raise InputError(f"{order.evaluation}: no recording is left to judge by")
            if order.budget is not None:
                require_decidable(evaluation, order.budget)
        return evaluation, calibration

    def _read(self, done: int, total: int) -> None:
        if done == 1:
            self._progress.stage("reading the evaluation set", total)
        self._progress.advance(done)

    def _referee(self) -> Referee | None:
        """Who compares with the original's transcripts; ``None`` without an evaluation set."""
        if self._evaluation is None:
            return None
        evaluator = Evaluator(self._evaluation, self._settings, self._work / "decoded", self._order.vad_model)
        self._progress.stage("decoding with the original", len(self._evaluation.recordings))
        began_s = time.monotonic()
        original = evaluator.evaluate(
            self._original.candidate, on_recording=lambda done, _total: self._progress.advance(done)
        )
        self._decode_s = max(time.monotonic() - began_s, original.wall_s / processes_for(self._original.candidate))
        return Referee(evaluator, original, self._order.budget, self._progress)

    def _make(self, name: str, quantized: Mapping[str, Quantized]) -> Made:
        made = self._workshop.make(name, quantized)
        self._candidates[name] = made
        self._peak_disk_bytes = max(self._peak_disk_bytes, folder_bytes(self._work))
        return made

    def _time(self, models: Iterable[Made]) -> Speeds | None:
        """Let models take turns; ``None`` without recordings."""
        if self._evaluation is None:
            return None
        self._progress.stage("comparing speeds", 1)
        speeds = measure_speed(
            {made.name: made.candidate for made in models},
            choose_for_speed(self._evaluation.recordings, SPEED_AUDIO_S, self._order.seed),
            self._settings,
            self._order.vad_model,
        )
        self._points = with_speeds(self._points, speeds, self._original.name)
        return speeds

    def _document(self) -> Document:
        order = self._order
        processors = read_processors()
        features = common_features(processors)
        evaluation, searched = self._evaluation, self._searched
        kept = self._candidates.get(self._kept)
        return Document(
            created=dt.datetime.now().astimezone().isoformat(timespec="seconds"),
            command=order.command,
            versions=versions(),
            processor=processors[0].name if processors else platform.machine(),
            has_vnni=features.dot_product if features and is_x86() else None,
            origin=origin_of(order.original),
            recipe=order.recipe,
            target=order.target.name,
            why=order.target.why,
            seed=order.seed,
            budget=order.budget,
            metric=evaluation.metric if evaluation else "wer",
            normaliser=score([], [], evaluation.language).normaliser if evaluation else "",
            blocks=len(set(evaluation.blocks)) if evaluation else 0,
            kept=self._kept,
            points=tuple(self._points),
            components=component_records(order.original, kept) if kept else (),
            nodes=node_records(searched, self._kept) if searched else (),
            evaluation=audio_set(str(order.evaluation), evaluation.recordings) if evaluation else None,
            calibration=self._calibration_record(),
            rescues=tuple(searched.rescues) if searched else (),
            resources=self._resources(),
            notes=(*self._workshop.notes, *self._notes),
        )

    def _calibration_record(self) -> AudioSet | None:
        if not self._calibration:
            return None
        source = self._order.calibration or self._order.evaluation or "the package"
        longest_s = SENSITIVITY_AUDIO_S if self._order.recipe == "auto" else MOST_AUDIO_S
        return audio_set(str(source), choose_recordings(self._calibration, self._order.seed, longest_s))

    def _resources(self) -> Resources:
        own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return Resources(
            wall_s=round(time.monotonic() - self._began_s, 1),
            cpu_s=round(own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime, 1),
            peak_memory_bytes=max(own.ru_maxrss, children.ru_maxrss) * 1024,
            peak_disk_bytes=self._peak_disk_bytes,
        )
