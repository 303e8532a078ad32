"""From the model's probability to the share that is right."""

import pytest

from edge_asr.events import Word
from edge_asr.pipeline.confidence import AS_SAID, Calibration

MEASURED = Calibration(((0.2, 0.1), (0.6, 0.8), (0.8, 1.0)))


@pytest.mark.parametrize(
    ("probability", "share"),
    [(0.0, 0.1), (0.2, 0.1), (0.4, 0.45), (0.6, 0.8), (0.7, 0.9), (0.8, 1.0), (1.0, 1.0)],
)
def test_it_is_read_from_the_line(probability, share):
    assert MEASURED.share(probability) == pytest.approx(share)


def test_a_single_point_is_a_level():
    assert Calibration(((0.5, 0.7),)).share(0.1) == Calibration(((0.5, 0.7),)).share(0.9) == 0.7


def test_without_points_it_is_what_the_model_says():
    words = (Word("go", 0.0, 0.3, 0.4), Word("on", 0.3, 0.5))
    assert (AS_SAID.share(0.4), AS_SAID.applied(words)) == (0.4, words)


def test_words_without_a_probability_get_none():
    words = (Word("go", 0.0, 0.3, 0.4), Word("on", 0.3, 0.5))
    go, on = MEASURED.applied(words)
    assert go.confidence == pytest.approx(0.45)
    assert on == words[1]
