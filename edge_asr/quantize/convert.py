"""A streaming model for an NPU: fixed sizes, compiled, simulated over whole recordings, judged, written.

Nothing is kept that did not run: the simulator of the NPU hears the evaluation recordings with its own states from the
first chunk to the last, and what it writes is compared with what the float model writes in ONNX Runtime.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec
import onnxruntime

from edge_asr.engines.ort_providers import NO_COVERAGE, OrtRuntime
from edge_asr.engines.ort_session import Graph
from edge_asr.engines.ort_streaming import StreamingRunner
from edge_asr.engines.provider_table import PROVIDERS, RKNN_RUNTIME_VERSION
from edge_asr.engines.providers import why_unavailable
from edge_asr.engines.token_text import TokenText
from edge_asr.errors import ConfigurationError, ModelUnsupported, ProviderUnavailable
from edge_asr.families import CONTEXT, FAMILIES
from edge_asr.manifest import ModelFile, Precision, renamed
from edge_asr.quantize.accept import Judgement, judge
from edge_asr.quantize.calibrate import calibration_audio, sound_of
from edge_asr.quantize.decoding import Candidate
from edge_asr.quantize.evaluation_set import EvaluationSet, look_at, read_evaluation_set
from edge_asr.quantize.fixed_shapes import fix_shapes
from edge_asr.quantize.graph import OperatorCounts, load_graph, prepare_graph
from edge_asr.quantize.npu_report import Report
from edge_asr.quantize.output import require_writable, write_model
from edge_asr.quantize.progress import Progress
from edge_asr.quantize.qnn_model import RECIPE, compile_ahead, quantize_for_qnn
from edge_asr.quantize.recorded_steps import RecordedSteps
from edge_asr.quantize.referee import require_decidable
from edge_asr.quantize.rknn_model import custom_string, write_dataset
from edge_asr.quantize.rknn_process import Request, SimulatedGraph, ToolkitProcess, toolkit_process
from edge_asr.quantize.save import save_model
from edge_asr.quantize.softplus import join_softplus
from edge_asr.quantize.state_loop import compare_loops
from edge_asr.quantize.walk import operator_counts
from edge_asr.quantize.workshop import COMPANIONS, Made, base_name, graph_files
from edge_asr.scoring import score
from edge_asr.store.digest import sha256_of
from edge_asr.store.store import InstalledModel
from edge_asr.workload import bundled_clips

FILE = "quantization.json"

MOST_STEPS = 60
"""Of each graph, for ranges; more change little and take their time."""

LEAST_COSINE = 0.9
"""Of every output over a whole state loop; below it something is broken, not rounded."""

NpuFormat = Literal["rknn", "qnn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """What is to be done."""

    original: InstalledModel
    output: Path
    file_format: NpuFormat
    platform: str
    """Chip: ``rk3588`` and the like; of ``qnn`` empty, the options say it."""
    is_int8: bool = False
    """``rknn`` only: 8 bits instead of 16-bit floats."""
    evaluation: Path | None = None
    budget: float | None = None
    """Absolute increase of the error rate, 0.005 for half a percentage point."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Of the provider ``qnn``: ``soc_model``, ``htp_arch``."""
    toolkit: Path | None = None
    """Interpreter of the environment that has Rockchip's toolkit."""
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversionOutcome:
    """The report, and where the model is; ``None`` where it was refused."""

    report: Report
    directory: Path | None


def convert(order: Conversion, progress: Progress) -> ConversionOutcome:
    """Make the model.

    Raises:
        ConfigurationError: int8 without recordings to judge it by.
        InputError: The recordings cannot be used, or are too few to decide about the budget.
        ModelError: The model cannot be compiled for the NPU; the sentence says what to export instead.
        MachineError: The toolkit or the plugin is not here.
    """
    family = order.original.manifest.family
    if reason := PROVIDERS[order.file_format].why_not_family(family):
        raise ModelUnsupported(order.original.manifest.name, reason)
    if order.is_int8 and (order.evaluation is None or order.budget is None):
        raise ConfigurationError(
            "8 bits lose words on this NPU as often as not: give --eval MANIFEST and --max-wer-increase to judge them"
        )
    if order.file_format == "qnn" and (reason := why_unavailable("qnn")):
        raise ProviderUnavailable("qnn", f"{reason}; {PROVIDERS['qnn'].how_to_get}")
    require_writable(order.output, order.original.directory)
    heard = _evaluation_set(order)
    if order.budget is not None:
        require_decidable(heard, order.budget)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="edge-asr-npu-")))
        toolkit = None
        if order.file_format == "rknn":
            toolkit = stack.enter_context(toolkit_process(order.toolkit))
        return _Converting(order, progress, folder, toolkit, heard).run()


class _Converting:
    """One conversion."""

    def __init__(
        self,
        order: Conversion,
        progress: Progress,
        folder: Path,
        toolkit: ToolkitProcess | None,
        evaluation: EvaluationSet,
    ) -> None:
        self._evaluation = evaluation
        self._order = order
        self._progress = progress
        self._folder = folder
        self._toolkit = toolkit
        self._family = FAMILIES[order.original.manifest.family]
        self._coverage = NO_COVERAGE
        self._operators: dict[str, dict[str, int]] = {}

    def run(self) -> ConversionOutcome:
        progress, order = self._progress, self._order
        progress.stage("fixing sizes", 1)
        fixed = self._fixed()
        progress.stage(f"compiling for {order.platform or order.file_format}", len(fixed))
        made = self._folder / "made"
        made.mkdir()
        files, simulated = (self._rknn if order.file_format == "rknn" else self._qnn)(fixed, made)
        report = self._judged(fixed, simulated)
        if report.verdict != "within":
            return ConversionOutcome(report, None)
        self._write(made, files, report)
        return ConversionOutcome(report, order.output)

    def _fixed(self) -> dict[str, Path]:
        """Every graph for one stream, of fixed sizes."""
        paths = {}
        for role, path in graph_files(self._order.original).items():
            model = fix_shapes(prepare_graph(load_graph(path), name=path.name))
            join_softplus(model)
            self._operators[role] = dict(operator_counts(model))
            paths[role] = self._folder / f"{role}-fixed.onnx"
            save_model(model, paths[role])
        return paths

    def _rknn(self, fixed: Mapping[str, Path], made: Path) -> tuple[dict[str, Path], dict[str, Graph]]:
        order, toolkit = self._order, self._toolkit
        assert toolkit is not None
        files: dict[str, Path] = {}
        simulated: dict[str, Graph] = {}
        steps = self._recorded(fixed) if order.is_int8 else None
        for role, path in fixed.items():
            graph = Graph(path, role, 1)
            dataset = write_dataset(self._folder / "dataset", role, graph.inputs, steps) if steps else None
            target = files[role] = made / f"{role}.rknn"
            text = custom_string(graph.metadata, self._family.name, role)
            toolkit.convert(Request(role, path, target, order.platform, text, dataset))
            simulated[role] = SimulatedGraph(graph, toolkit)
        return files, simulated

    def _qnn(self, fixed: Mapping[str, Path], made: Path) -> tuple[dict[str, Path], dict[str, Graph]]:
        files: dict[str, Path] = {}
        simulated: dict[str, Graph] = {}
        steps = self._recorded(fixed)
        for role, path in fixed.items():
            prepared = prepare_graph(load_graph(path), name=path.name)
            target = files[role] = made / f"{role}.onnx"
            save_model(quantize_for_qnn(load_graph(path), role, prepared, steps), target)
            ahead, coverage = compile_ahead(target, role, self._order.options)
            files[f"{role}{CONTEXT}"] = ahead
            self._coverage = self._coverage.plus(coverage)
            simulated[role] = Graph(ahead, role, 1, OrtRuntime("QNN", self._order.options))
        return files, simulated

    def _recorded(self, fixed: Mapping[str, Path]) -> RecordedSteps:
        steps = RecordedSteps(self._folder / "steps")
        audio = calibration_audio(look_at(bundled_clips(), self._language), self._rate_hz, seed=0)
        steps.record(StreamingRunner(fixed, self._family), audio, MOST_STEPS)
        return steps

    def _judged(self, fixed: Mapping[str, Path], simulated: Mapping[str, Graph]) -> Report:
        order, manifest = self._order, self._order.original.manifest
        graphs = {role: Graph(path, role, 1) for role, path in fixed.items()}
        before = StreamingRunner({}, self._family, graphs=graphs)
        after = StreamingRunner({}, self._family, graphs=simulated)
        recordings = self._evaluation.recordings
        audio = [sound_of(recording, self._rate_hz) for recording in recordings]
        references = [recording.clip.reference for recording in recordings]
        self._progress.stage("listening in the simulator", len(audio))
        encoder = "encoder" if "encoder" in graphs else "model"
        loops = {
            encoder: compare_loops(
                graphs[encoder], simulated[encoder], self._family.name, [before.features(one) for one in audio[:2]]
            )
        }
        text = TokenText.read(order.original.directory / manifest.files["tokens"].path)
        expected = [text.text(before.greedy(one).tokens).strip() for one in audio]
        found = []
        for one in audio:
            found.append(text.text(after.greedy(one).tokens).strip())
            self._progress.advance(len(found))
        before_score, after_score = (score(references, heard, self._language) for heard in (expected, found))
        judged = (
            judge(before_score, after_score, self._evaluation.blocks, order.budget or 0.0) if len(audio) > 1 else None
        )
        is_alike = loops[encoder].least_cosine >= LEAST_COSINE
        return Report(
            command=order.command,
            provider=order.file_format,
            platform=order.platform or ",".join(f"{key}={value}" for key, value in order.options.items()),
            recipe=_recipe(order),
            versions=self._versions(),
            operators=self._operators,
            coverage=1.0 if order.file_format == "rknn" else self._coverage.share,
            on_cpu=self._coverage.on_cpu,
            loops=loops,
            recordings=len(audio),
            same_text=sum(one == other for one, other in zip(expected, found, strict=True)),
            units=before_score.reference_units,
            error_rate_before=before_score.error_rate,
            error_rate_after=after_score.error_rate,
            error_rate_change_low=judged.interval.low if judged else None,
            error_rate_change_high=judged.interval.high if judged else None,
            verdict=_verdict(judged, order.budget) if is_alike else "broken",
            notes=self._notes(),
        )

    @property
    def _rate_hz(self) -> int:
        return self._order.original.manifest.sample_rate_hz

    @property
    def _language(self) -> str:
        return self._evaluation.language

    def _versions(self) -> dict[str, str]:
        versions = {"onnxruntime": onnxruntime.__version__}
        if self._toolkit is not None:
            versions["rknn-toolkit2"] = self._toolkit.version
        return versions

    def _notes(self) -> tuple[str, ...]:
        if self._toolkit is None or self._toolkit.version == RKNN_RUNTIME_VERSION:
            return ()
        return (
            f"compiled with rknn-toolkit2 {self._toolkit.version}; librknnrt.so {RKNN_RUNTIME_VERSION}, which "
            "sherpa-onnx is known to work with, may refuse it: try it on the board before you rely on it",
        )

    def _write(self, made: Path, files: Mapping[str, Path], report: Report) -> None:
        order, original = self._order, self._order.original
        for role, file in original.manifest.files.items():
            if role in COMPANIONS and role != "graph":
                shutil.copyfile(original.directory / file.path, made / Path(file.path).name)
                files = {**files, role: made / Path(file.path).name}
        described = {
            role: ModelFile(path=path.name, size_bytes=path.stat().st_size, sha256=sha256_of(path))
            for role, path in files.items()
        }
        name = f"{base_name(original.manifest.name)}-{order.platform or order.file_format}"
        precision: Precision = "int8" if order.is_int8 or order.file_format == "qnn" else "fp16"
        manifest = msgspec.structs.replace(
            renamed(original.manifest, name),
            summary=f"{original.manifest.name} for {order.platform or order.file_format}",
            files=described,
            precision=precision,
            source=msgspec.structs.replace(original.manifest.source, kind="local"),
        )
        size = sum(path.stat().st_size for role, path in files.items() if role not in COMPANIONS)
        counts = {role: OperatorCounts(counted, counted) for role, counted in self._operators.items()}

        def fill(directory: Path) -> None:
            (directory / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2))

        write_model(order.output, Made(name, Candidate(manifest, made), size, counts), name, fill)


def _evaluation_set(order: Conversion) -> EvaluationSet:
    """What is listened to: the recordings that were named, or those of the package."""
    languages = order.original.manifest.languages
    language = languages[0] if languages else "en"
    if order.evaluation is not None:
        return read_evaluation_set(order.evaluation, language)
    return EvaluationSet(tuple(look_at(bundled_clips(), language)), language)


def _verdict(judged: Judgement | None, budget: float | None) -> Literal["within", "over", "undecided"]:
    if budget is None:
        return "within"
    return "undecided" if judged is None else judged.verdict


def _recipe(order: Conversion) -> str:
    if order.file_format == "qnn":
        return RECIPE
    return "int8" if order.is_int8 else "fp16"
