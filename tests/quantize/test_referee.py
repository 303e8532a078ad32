from dataclasses import replace
from pathlib import Path

import pytest

from edge_asr.errors import InputError
from edge_asr.quantize.evaluate import Evaluator
from edge_asr.quantize.evaluation_set import EvaluationSet, Recording, read_evaluation_set
from edge_asr.quantize.progress import Silence
from edge_asr.quantize.recipes import apply_recipe
from edge_asr.quantize.referee import Referee, first, require_decidable
from edge_asr.quantize.targets import TARGETS
from edge_asr.quantize.workshop import Workshop
from edge_asr.scoring import score
from edge_asr.store.store import InstalledModel
from edge_asr.workload import Clip
from tests.quantize.conftest import SETTINGS
from tests.support.tiny_products import write_model, write_recordings


def words(count: int) -> EvaluationSet:
    return EvaluationSet((Recording(Clip("a", Path("a"), "…"), "0", 1.0, count),), "en")


def test_a_set_that_can_never_decide_is_refused_with_the_size_needed():
    with pytest.raises(InputError, match=r"1000 words, too few to decide about 0\.5 percentage points: about 1153 "):
        require_decidable(words(1000), budget=0.005)


def test_characters_are_asked_for_where_characters_are_scored():
    evaluation = EvaluationSet(words(10).recordings, "zh")
    with pytest.raises(InputError, match=r"10 characters, too few"):
        require_decidable(evaluation, budget=0.005)


def test_a_set_that_may_decide_is_taken():
    require_decidable(words(1153), budget=0.005)


def test_the_first_recordings_of_a_report_are_a_report():
    report = score(["a b", "c d", "e f"], ["a x", "c d", "x x"])
    part = first(report, 2)
    assert (part.utterances, part.errors, part.reference_units) == (2, 1, 4)
    assert first(report, 3) is report


class Bench:
    """A model and its referee over 20 recordings of 8 words."""

    def __init__(self, folder: Path, *, sabotaged: bool, budget: float | None, speakers: str = "") -> None:
        evaluation = read_evaluation_set(write_recordings(folder / "audio", 20), "en")
        if speakers:
            spoken = zip(evaluation.recordings, speakers, strict=True)
            recordings = tuple(replace(one, clip=replace(one.clip, speaker=speaker)) for one, speaker in spoken)
            evaluation = EvaluationSet(recordings, "en")
        original = InstalledModel(write_model(folder / "model", sabotaged=sabotaged), folder / "model")
        self.workshop = Workshop(original, folder / "work")
        self.evaluator = Evaluator(evaluation, SETTINGS, folder / "cache")
        unchanged = self.evaluator.evaluate(self.workshop.unchanged().candidate)
        self.referee = Referee(self.evaluator, unchanged, budget, Silence())

    def make(self, recipe):
        return self.workshop.make(recipe, apply_recipe(recipe, self.workshop.components, TARGETS["x86"]))


def test_a_model_that_says_the_same_is_within(tmp_path: Path):
    bench = Bench(tmp_path, sabotaged=False, budget=0.05)
    point = bench.referee.judge(bench.make("int8"))
    assert point.verdict == "within"
    assert point.nodes == {"int8": 3}
    assert point.accuracy is not None
    assert (point.accuracy.error_rate, point.accuracy.difference, point.accuracy.recordings) == (0.0, 0.0, 20)


def test_a_ruined_model_is_over_and_not_decoded_to_the_end(tmp_path: Path):
    bench = Bench(tmp_path, sabotaged=True, budget=0.05)
    point = bench.referee.judge(bench.make("int8"))
    assert point.verdict == "over"
    assert point.accuracy is not None
    assert point.accuracy.recordings == 2
    assert point.accuracy.insertions == 2 * 40


def test_recordings_of_one_speaker_end_no_decoding(tmp_path: Path):
    bench = Bench(tmp_path, sabotaged=True, budget=0.05, speakers="a" * 15 + "b" * 5)
    point = bench.referee.judge(bench.make("int8"))
    assert point.verdict == "over"
    assert point.accuracy is not None
    assert point.accuracy.recordings == 20


def test_without_a_budget_the_damage_is_shown_in_full(tmp_path: Path):
    bench = Bench(tmp_path, sabotaged=True, budget=None)
    point = bench.referee.judge(bench.make("int8"))
    assert (point.verdict, point.accuracy.recordings if point.accuracy else 0) == ("not judged", 20)
    assert point.accuracy is not None
    assert point.accuracy.error_rate == 40 / 8


def test_a_model_that_ends_its_process_is_a_point_like_others(tmp_path: Path):
    bench = Bench(tmp_path, sabotaged=False, budget=0.05)
    made = bench.make("int8")
    tokens = made.candidate.directory / "tokens.txt"
    tokens.unlink()
    tokens.write_text("<blk> 0\n")
    point = bench.referee.judge(made)
    assert point.verdict == "failed"
    assert "sound-int8" in point.note


def test_too_few_words_leave_it_undecided_and_say_how_many_would_do(tmp_path: Path):
    bench = Bench(tmp_path, sabotaged=False, budget=0.05)
    bench.referee.budget = 0.005
    made = bench.make("int8")
    assert bench.referee.judge(made).verdict == "undecided"
    assert "about 961 words would show it (160 were decoded)" in bench.referee.why_undecided("int8")


def test_points_are_kept_in_order(tmp_path: Path):
    bench = Bench(tmp_path, sabotaged=False, budget=0.05)
    made = bench.make("int8")
    bench.referee.judge(made)
    bench.referee.judge(replace(made, name="again"))
    assert [point.name for point in bench.referee.points] == ["int8", "again"]
