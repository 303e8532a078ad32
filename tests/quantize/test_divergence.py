import numpy as np
import pytest

from edge_asr.quantize.divergence import divergence


def logs(*rows: list[float]) -> np.ndarray:
    return np.log(np.array(rows, np.float32))


BEFORE = logs([0.5, 0.25, 0.25], [0.1, 0.8, 0.1])


def test_a_model_does_not_diverge_from_itself():
    found = divergence([BEFORE], [BEFORE], blank=0)
    assert (found.nats, found.flips, found.blank_drift, found.frames, found.harm) == (0.0, 0.0, 0.0, 2, 0.0)


def test_divergence_is_that_of_kullback_and_leibler_per_frame():
    after = logs([0.25, 0.5, 0.25], [0.1, 0.8, 0.1])
    # 0.5 ln 2 + 0.25 ln 0.5 = 0.25 ln 2, over two frames
    assert divergence([BEFORE], [after], blank=0).nats == pytest.approx(0.125 * np.log(2))


def test_flips_are_frames_with_another_best_token():
    assert divergence([BEFORE], [logs([0.2, 0.5, 0.3], [0.1, 0.8, 0.1])], blank=0).flips == 0.5


def test_drift_towards_the_blank_is_counted_with_its_sign():
    lossy = divergence([BEFORE], [logs([0.7, 0.15, 0.15], [0.2, 0.7, 0.1])], blank=0)
    assert lossy.blank_drift == pytest.approx(0.15)
    assert lossy.harm == pytest.approx(lossy.nats + 0.15)
    chatty = divergence([BEFORE], [logs([0.3, 0.35, 0.35], [0.1, 0.8, 0.1])], blank=0)
    assert chatty.blank_drift == pytest.approx(-0.1)
    assert chatty.harm == chatty.nats


def test_recordings_count_by_their_frames():
    after = logs([0.25, 0.5, 0.25])
    found = divergence([BEFORE, BEFORE[:1]], [BEFORE, after], blank=0)
    assert found.frames == 3
    assert found.flips == pytest.approx(1 / 3)


def test_a_model_that_gives_no_number_is_infinitely_far():
    broken = np.full((2, 3), np.nan, np.float32)
    assert divergence([BEFORE], [broken], blank=0).harm == float("inf")


def test_impossible_tokens_do_not_make_the_divergence_infinite():
    before = np.array([[0.0, -np.inf, -np.inf]], np.float32)
    after = np.array([[-np.inf, 0.0, -np.inf]], np.float32)
    assert divergence([before], [after], blank=0).nats == pytest.approx(30.0)


def test_rows_without_a_partner_count_as_impossible():
    found = divergence([BEFORE], [BEFORE[:1]], blank=0)
    assert (found.nats, found.flips, found.frames) == (15.0, 0.5, 2)


def test_other_vocabularies_are_refused():
    with pytest.raises(ValueError, match="3 and 2 tokens"):
        divergence([BEFORE], [BEFORE[:, :2]], blank=0)
