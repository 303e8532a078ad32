import math

import numpy as np
import pytest

from edge_asr.quantize.accept import judge, units_needed, unseen_rate
from edge_asr.scoring import ScoringReport, score

WORDS = 5


def report(errors: list[int]) -> ScoringReport:
    return ScoringReport("wer", "none", len(errors), sum(errors), 0, 0, WORDS * len(errors), tuple(errors),
                         (WORDS,) * len(errors))  # fmt: skip


def names(count: int) -> list[str]:
    return [f"u{number}" for number in range(count)]


def test_identical_transcripts_of_a_large_set_are_within_the_budget():
    judgement = judge(report([1] * 400), report([1] * 400), names(400), budget=0.005)
    assert (judgement.verdict, judgement.difference) == ("within", 0.0)
    assert judgement.interval.high == pytest.approx(-math.log(0.025) / 2000)


def test_identical_transcripts_of_a_small_set_prove_nothing():
    assert judge(report([0] * 20), report([0] * 20), names(20), budget=0.005).verdict == "undecided"


def test_twice_the_errors_are_over_the_budget():
    judgement = judge(report([1] * 400), report([2] * 400), names(400), budget=0.005)
    assert judgement.verdict == "over"
    assert judgement.difference == pytest.approx(0.2)


def test_a_small_increase_among_much_noise_is_undecided():
    generator = np.random.default_rng(1)
    before = generator.integers(1, 4, 300)
    after = before + generator.integers(-1, 2, 300)
    judgement = judge(report(before.tolist()), report(after.tolist()), names(300), budget=0.005)
    assert judgement.verdict == "undecided"
    assert judgement.interval.low < judgement.difference < judgement.interval.high


def test_speakers_as_blocks_widen_the_interval_where_one_voice_suffers():
    after = report([2 if number < 40 else 0 for number in range(400)])
    before = report([0] * 400)
    by_utterance = judge(before, after, names(400), budget=0.1)
    by_speaker = judge(before, after, [f"s{number // 40}" for number in range(400)], budget=0.1)
    assert by_speaker.interval.high > by_utterance.interval.high


def test_improvement_is_within_any_budget():
    assert judge(report([2] * 400), report([1] * 400), names(400), budget=0.001).verdict == "within"


def test_other_references_are_refused():
    with pytest.raises(ValueError, match="same recordings"):
        judge(report([0, 0]), report([0]), names(2), budget=0.01)


def test_a_single_block_is_refused():
    with pytest.raises(ValueError, match="two blocks"):
        judge(report([0, 0]), report([0, 0]), ["one", "one"], budget=0.01)


def test_characters_are_the_units_of_chinese():
    before = score(["今天天气"], ["今天天气"], "zh")
    assert before.reference_units == 4


def test_words_needed_grow_with_the_square_of_the_precision():
    # 1.96² x 0.01 x 2 / 0.005² = 3073.2 and / 0.0025² = 12292.7
    assert units_needed(0.005, 0.01, 2.0) == 3074
    assert units_needed(0.0025, 0.01, 2.0) == 12293


def test_words_needed_are_never_fewer_than_perfect_agreement_takes():
    assert units_needed(0.01, disagreement=0.0) == math.ceil(-math.log(0.025) / 0.01) == 369
    assert unseen_rate(369) <= 0.01


def test_the_measured_clustering_explains_the_interval():
    generator = np.random.default_rng(2)
    before = generator.integers(0, 2, 2000)
    after = np.where(generator.random(2000) < 0.1, 1 - before, before)
    judgement = judge(report(before.tolist()), report(after.tolist()), names(2000), budget=0.01)
    # Each utterance differs by one at most and independently of the others, so nothing comes together.
    assert judgement.clustering == pytest.approx(1.0, abs=0.15)
    half = (judgement.interval.high - judgement.interval.low) / 2
    assert units_needed(half, judgement.disagreements / judgement.units, judgement.clustering) == pytest.approx(
        judgement.units, rel=0.02
    )
