from pathlib import Path

import pytest

from edge_asr.errors import ModelDamaged
from edge_asr.quantize import evaluate
from edge_asr.quantize.decoding import Candidate
from edge_asr.quantize.evaluate import Evaluator, model_digest
from edge_asr.quantize.evaluation_set import EvaluationSet
from edge_asr.quantize.speed import choose_for_speed, measure_speed
from tests.quantize.conftest import SETTINGS, tiny_model


@pytest.fixture
def evaluator(evaluation: EvaluationSet, tmp_path: Path) -> Evaluator:
    return Evaluator(evaluation, SETTINGS, tmp_path / "cache")


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch):
    """From here on, nothing may be decoded anew."""

    def refuse(*_):
        raise AssertionError("a model was loaded although everything is known")

    def apply() -> None:
        monkeypatch.setattr(evaluate, "decoding_process", refuse)

    return apply


def test_the_texts_of_the_real_engine_are_scored(evaluator: Evaluator, candidate: Candidate):
    evaluation = evaluator.evaluate(candidate)
    assert len(evaluation.recognised) == 8
    assert all(one.text.startswith("one two three") for one in evaluation.recognised)
    # The scorer takes a run of spoken digits for one number, of which every recording has another one.
    assert (evaluation.report.reference_units, evaluation.report.substitutions) == (8, 8)
    assert evaluation.audio_s == pytest.approx(8 * 0.5 + 0.28)
    assert evaluation.wall_s > 0


def test_what_was_decoded_is_not_decoded_again(evaluator: Evaluator, candidate: Candidate, no_process):
    first = evaluator.evaluate(candidate)
    no_process()
    assert evaluator.evaluate(candidate) == first


def test_an_interrupted_evaluation_goes_on_where_it_was(evaluator: Evaluator, candidate: Candidate):
    def interrupt(done: int, _total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluator.evaluate(candidate, on_recording=interrupt)
    (written,) = (evaluator._cache).iterdir()
    with written.open("ab") as file:
        file.write(b'["cut o')  # by a power failure
    before = written.read_bytes().splitlines()[:3]
    evaluator.evaluate(candidate)
    assert written.read_bytes().splitlines()[:3] == before
    assert len(written.read_bytes().splitlines()) == 8


def test_another_model_is_another_question(evaluator: Evaluator, candidate: Candidate, tmp_path: Path):
    evaluator.evaluate(candidate)
    other = tiny_model(tmp_path / "other")
    tokens = other.directory / other.manifest.files["tokens"].path
    tokens.write_text(tokens.read_text().replace("▁one", "▁won"))
    assert model_digest(other) != model_digest(candidate)


def test_enough_can_be_enough(evaluator: Evaluator, candidate: Candidate):
    evaluation = evaluator.evaluate(candidate, stop=lambda partly: len(partly.recognised) >= 2)
    assert len(evaluation.recognised) == len(evaluation.recordings) == evaluation.report.utterances == 2


def test_a_model_that_cannot_be_loaded_is_named(evaluator: Evaluator, candidate: Candidate):
    (candidate.directory / candidate.manifest.files["joiner"].path).write_bytes(b"")
    with pytest.raises(ModelDamaged, match=r"joiner\.onnx.* is empty"):
        evaluator.evaluate(candidate)


def test_models_take_turns(evaluation: EvaluationSet, candidate: Candidate, tmp_path: Path):
    speeds = measure_speed({"a": candidate, "b": tiny_model(tmp_path / "b")}, evaluation.recordings, SETTINGS, rounds=1)
    assert [block.utterance for block in speeds.blocks["a"]] == [one.sha256 for one in evaluation.recordings]
    ratio = speeds.ratio("b", to="a")
    assert ratio.blocks == 8
    assert ratio.ratio == pytest.approx(speeds.rtf_cpu("b") / speeds.rtf_cpu("a"))


def test_recordings_for_speed_are_drawn_until_they_are_long_enough(evaluation: EvaluationSet):
    chosen = choose_for_speed(evaluation.recordings, audio_s=2.0, seed=3)
    assert sum(one.audio_s for one in chosen[:-1]) < 2.0 <= sum(one.audio_s for one in chosen)
    assert chosen == choose_for_speed(evaluation.recordings, audio_s=2.0, seed=3)
