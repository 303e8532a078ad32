import shutil
from pathlib import Path

import msgspec
import pytest

from edge_asr.engines.trial import trial_load
from edge_asr.errors import AlreadyQuantized, InputError
from edge_asr.manifest import MANIFEST_FILE, ModelFile, read_manifest
from edge_asr.quantize import stock
from edge_asr.quantize.auto import smallest_fast_enough
from edge_asr.quantize.choices import WeightOptions
from edge_asr.quantize.document import FILE, Document
from edge_asr.quantize.order import Order, Outcome
from edge_asr.quantize.progress import Silence
from edge_asr.quantize.recipes import RecipeOptions
from edge_asr.quantize.run import quantize
from edge_asr.quantize.targets import TARGETS
from edge_asr.settings import EngineSettings
from edge_asr.store.digest import check_files
from edge_asr.store.store import InstalledModel
from tests.support.tiny_products import write_model, write_recordings


def order(folder: Path, *, sabotaged: bool = False, **wishes) -> Outcome:
    original = InstalledModel(write_model(folder / "model", sabotaged=sabotaged), folder / "model")
    wishes = {"recipe": "int8", "target": TARGETS["x86"], **wishes}
    return quantize(Order(original=original, output=folder / "out", **wishes), Silence())


def evaluation(folder: Path) -> Path:
    return write_recordings(folder / "audio", 20)


def test_a_recipe_without_recordings_writes_a_model_and_judges_nothing(tmp_path: Path):
    outcome = order(tmp_path)
    assert outcome.directory == tmp_path / "out"
    assert [(point.name, point.verdict) for point in outcome.document.points] == [("int8", "not judged")]
    assert any("not judged: --eval MANIFEST" in note for note in outcome.document.notes)
    manifest = read_manifest(tmp_path / "out" / MANIFEST_FILE)
    assert manifest.name == "sound-int8"
    check_files(manifest, tmp_path / "out")
    trial_load(tmp_path / "out", manifest, EngineSettings())


def test_what_was_done_can_be_read_back(tmp_path: Path):
    outcome = order(tmp_path, evaluation=evaluation(tmp_path), seed=3)
    document = msgspec.json.decode((tmp_path / "out" / FILE).read_bytes(), type=Document)
    assert document == outcome.document
    assert (document.seed, document.recipe, document.target, document.kept) == (3, "int8", "x86", "int8")
    assert any("not judged: --max-wer-increase" in note for note in document.notes)
    assert document.evaluation is not None
    assert (document.evaluation.recordings, document.evaluation.units) == (20, 160)
    (encoder,) = (component for component in document.components if component.role == "encoder")
    assert encoder.nodes == {"int8": 2}
    assert encoder.operators_after["MatMulInteger"] == 2
    assert document.resources is not None
    assert document.resources.peak_memory_bytes > 10 << 20


def test_what_a_recipe_has_to_say_stands_in_the_document_and_the_report_once(tmp_path: Path):
    outcome = order(tmp_path, recipe="fp16", target=TARGETS["pi4"])
    saying = [note for note in outcome.document.notes if "computes halves no faster than floats" in note]
    assert [note.split(":")[0] for note in saying] == ["encoder", "joiner"]
    assert len(set(outcome.document.notes)) == len(outcome.document.notes)
    assert "computes halves no faster than floats" in outcome.report.read_text().split("<h2>")[0]


def test_within_the_budget_the_model_is_kept_and_timed_beside_the_original(tmp_path: Path):
    outcome = order(tmp_path, evaluation=evaluation(tmp_path), budget=0.05)
    original, made = outcome.document.points
    assert (original.verdict, made.verdict) == ("original", "within")
    assert original.speed is not None
    assert original.speed.ratio == 1.0
    assert made.speed is not None
    assert made.speed.rtf_cpu > 0
    assert made.speed.resident_bytes > 10 << 20


def test_without_a_budget_the_damage_is_shown_and_the_model_written(tmp_path: Path):
    outcome = order(tmp_path, sabotaged=True, evaluation=evaluation(tmp_path))
    assert outcome.directory is not None
    made = outcome.document.points[1]
    assert made.accuracy is not None
    assert made.accuracy.error_rate == 5.0


def test_over_the_budget_only_a_report_is_written(tmp_path: Path):
    outcome = order(tmp_path, sabotaged=True, evaluation=evaluation(tmp_path), budget=0.05)
    assert outcome.directory is None
    assert not (tmp_path / "out").exists()
    assert outcome.report == tmp_path / "out.report.html"
    assert "No model is within the budget of 5 percentage points" in outcome.report.read_text()


def test_a_set_too_small_to_decide_is_refused_before_anything_is_made(tmp_path: Path):
    with pytest.raises(InputError, match=r"160 words, too few to decide about 0\.5 percentage points"):
        order(tmp_path, evaluation=evaluation(tmp_path), budget=0.005)
    assert not [path for path in tmp_path.iterdir() if "out" in path.name]


def test_a_model_that_is_quantized_in_parts_can_be_continued(tmp_path: Path):
    order(tmp_path)
    first = InstalledModel(read_manifest(tmp_path / "out" / MANIFEST_FILE), tmp_path / "out")
    shutil.copyfile(tmp_path / "model" / "joiner.onnx", tmp_path / "out" / "joiner.onnx")
    size_bytes = (tmp_path / "out" / "joiner.onnx").stat().st_size
    files = {**first.manifest.files, "joiner": ModelFile(path="joiner.onnx", size_bytes=size_bytes)}
    partly = InstalledModel(msgspec.structs.replace(first.manifest, files=files), tmp_path / "out")
    with pytest.raises(AlreadyQuantized):
        quantize(Order(original=partly, output=tmp_path / "on", recipe="int8", target=TARGETS["x86"]), Silence())
    wanted = Order(original=partly, output=tmp_path / "on", recipe="int8", target=TARGETS["x86"], is_continued=True)
    assert quantize(wanted, Silence()).document.points[0].nodes == {"int8": 1}


def test_nothing_but_the_model_is_left(tmp_path: Path):
    order(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "out"]


def test_the_search_finds_a_model_that_int8_would_have_ruined(tmp_path: Path):
    manifest = write_recordings(tmp_path / "audio", 40)
    outcome = order(tmp_path, sabotaged=True, recipe="auto", evaluation=manifest, budget=0.05)
    verdicts = {point.name: point.verdict for point in outcome.document.points}
    assert (verdicts["stock-int8"], verdicts["int8"]) == ("over", "over")
    assert verdicts[outcome.document.kept] == "within"
    manifest_written = read_manifest(tmp_path / "out" / MANIFEST_FILE)
    assert manifest_written.name == "sabotaged-auto"
    assert {"/first/MatMul", "/second/MatMul"} < {record.name for record in outcome.document.nodes}


def test_the_search_goes_on_where_the_usual_int8_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*_arguments: object, **_options: object) -> None:
        raise AssertionError("initializer expected")

    monkeypatch.setattr(stock, "quantize_dynamic", fail)
    document = order(tmp_path, recipe="auto").document
    assert document.kept
    assert "stock-int8" not in {point.name for point in document.points}
    assert document.notes[0] == (
        "there is no stock-int8 to compare with: encoder.onnx: ONNX Runtime cannot quantize it: initializer expected"
    )


def test_recordings_set_apart_for_calibration_do_not_judge(tmp_path: Path):
    manifest = write_recordings(tmp_path / "audio", 40)
    document = order(tmp_path, recipe="auto", evaluation=manifest, budget=0.05).document
    assert document.evaluation is not None
    assert document.calibration is not None
    assert document.evaluation.recordings == 36
    assert not set(document.evaluation.sha256) & set(document.calibration.sha256)


def test_calibration_recordings_that_judge_are_refused(tmp_path: Path):
    manifest = write_recordings(tmp_path / "audio", 40)
    with pytest.raises(InputError, match="is in the evaluation set too"):
        order(tmp_path, recipe="auto", evaluation=manifest, calibration=tmp_path / "audio", budget=0.05)


def test_without_recordings_the_search_goes_no_further_from_the_original_than_int8(tmp_path: Path):
    document = order(tmp_path, recipe="auto").document
    kept = next(point for point in document.points if point.name == document.kept)
    usual = next(point for point in document.points if point.name == "int8")
    assert kept.divergence is not None
    assert usual.divergence is not None
    assert kept.divergence <= usual.divergence
    assert kept.accuracy is None


def test_a_static_recipe_is_calibrated_with_recordings_that_do_not_judge(tmp_path: Path):
    manifest = write_recordings(tmp_path / "audio", 40)
    document = order(tmp_path, recipe="int8-static", evaluation=manifest, budget=0.05).document
    assert document.points[1].verdict == "within"
    assert document.calibration is not None
    assert document.evaluation is not None
    assert not set(document.evaluation.sha256) & set(document.calibration.sha256)


def test_weights_can_be_rounded_with_error_feedback(tmp_path: Path):
    options = RecipeOptions(weights=WeightOptions(algorithm="gptq"))
    outcome = order(tmp_path, recipe="weight4", options=options, calibration=write_recordings(tmp_path / "a", 3).parent)
    assert outcome.document.points[0].nodes == {"weight4": 3}


def test_the_runtimes_own_format_can_be_served(tmp_path: Path):
    document = order(tmp_path, file_format="ort").document
    written = sum((tmp_path / "out" / f"{role}.ort").stat().st_size for role in ("encoder", "decoder", "joiner"))
    assert document.points[-1].size_bytes == sum(component.bytes for component in document.components) == written
    manifest = read_manifest(tmp_path / "out" / MANIFEST_FILE)
    assert manifest.files["encoder"].path == "encoder.ort"
    check_files(manifest, tmp_path / "out")
    assert trial_load(tmp_path / "out", manifest, EngineSettings()).family == "lstm-transducer"


def test_the_smallest_that_is_fast_enough_is_kept():
    kept, note = smallest_fast_enough({"a": 1.1, "b": 0.9, "c": 0.8}, "stock-int8")
    assert kept == "b"
    assert note == "a is smaller but takes 1.10 times the CPU time of stock-int8 here"


def test_where_none_is_fast_enough_size_decides_and_it_is_said():
    kept, note = smallest_fast_enough({"a": 1.1, "b": 1.05}, "stock-int8")
    assert (kept, note) == ("a", "a takes 1.10 times the CPU time of stock-int8 here")


def test_nothing_is_said_of_a_model_that_is_smallest_and_fast():
    assert smallest_fast_enough({"a": 1.0, "b": 0.5}, "stock-int8") == ("a", "")


class Interrupting(Silence):
    """Presses Ctrl-C when a stage begins."""

    def __init__(self, at: str) -> None:
        self.at = at
        self.said: list[str] = []

    def stage(self, title: str, total: int) -> None:
        if title == self.at:
            raise KeyboardInterrupt

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


def test_after_an_interruption_the_same_command_goes_on(tmp_path: Path):
    original = InstalledModel(write_model(tmp_path / "model"), tmp_path / "model")
    manifest = evaluation(tmp_path)
    wanted = Order(
        original=original, output=tmp_path / "out", recipe="int8", target=TARGETS["x86"], evaluation=manifest
    )
    progress = Interrupting("comparing speeds")
    with pytest.raises(KeyboardInterrupt):
        quantize(wanted, progress)
    assert not (tmp_path / "out").exists()
    assert "the same command goes on from there" in progress.said[-1]
    decoded = sorted((tmp_path / ".out.quantize" / "decoded").iterdir())
    before = [path.stat().st_mtime_ns for path in decoded]
    again = Interrupting("comparing speeds")
    with pytest.raises(KeyboardInterrupt):
        quantize(wanted, again)
    assert [path.stat().st_mtime_ns for path in decoded] == before
    assert quantize(wanted, Silence()).directory == tmp_path / "out"
