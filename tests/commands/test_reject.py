from __future__ import annotations

import pytest

from edge_asr.commands.reject import Evidence, Weights, evidence_of, score
from edge_asr.engines.base import ConstrainedPath, Token


def path(*log_probs: float, end: float = 0.0, open_log_prob: float = 0.0, mark: str = "") -> ConstrainedPath:
    tokens = [Token(" word", 0.0, log_prob) for log_prob in log_probs]
    tokens += [Token(mark, 0.0, 0.0)] if mark else []
    return ConstrainedPath("text", tuple(tokens), sum(log_probs) + end, open_log_prob)


def test_the_gap_is_by_token_with_the_end():
    assert evidence_of(path(-3.0, -2.0, -4.0, open_log_prob=-1.0)).gap == pytest.approx(2.0)


def test_a_sentence_that_is_likelier_than_the_free_text_has_no_gap():
    assert evidence_of(path(-1.0, open_log_prob=-5.0)).gap == 0


def test_the_surprise_is_that_of_the_hardest_token_and_the_end_is_one():
    assert evidence_of(path(-3.0, -2.0)).surprise == 3
    assert evidence_of(path(-3.0, -2.0, end=-7.0)).surprise == pytest.approx(7)


def test_marks_between_words_do_not_make_a_text_longer():
    assert evidence_of(path(-1.0, -1.0, mark=",")) == evidence_of(path(-1.0, -1.0))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Evidence(0.1, 1, 5), Evidence(1.0, 1, 5)),
        (Evidence(0.1, 1, 5), Evidence(0.1, 9, 5)),
        (Evidence(0.1, 1, 9), Evidence(0.1, 1, 2)),
    ],
)
def test_the_score_falls_with_gap_and_surprise_and_rises_with_length(better, worse):
    assert 0 < score(worse) < score(better) < 1


def test_the_score_of_known_weights():
    assert score(Evidence(1.0, 2.0, 0), Weights(bias=1, gap=-1, surprise=-0.5, length=0)) == pytest.approx(
        0.26894, abs=1e-5
    )


def test_the_hardest_token_counts_the_less_the_more_was_said():
    by_surprise = Weights(bias=0, gap=0, surprise=-1, length=0)
    assert score(Evidence(0, 6.0, 1), by_surprise) == pytest.approx(0.00247, abs=1e-5)
    assert score(Evidence(0, 6.0, 6), by_surprise) == pytest.approx(0.26894, abs=1e-5)


def test_a_word_that_resembles_a_short_command_is_none():
    assert score(Evidence(gap=0.0, surprise=2.1, tokens=1)) < 0.5  # "five", heard as "Hi"
    assert score(Evidence(gap=0.0, surprise=0.2, tokens=1)) > 0.5
