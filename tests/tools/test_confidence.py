"""Reliability of confidences, by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tools.confidence import Bin, calibration_error, diagram, held_out_error, reliability, rising_line

WORDS = [(0.95, True), (0.96, True), (0.2, False), (0.1, True), (1.0, True)]


def test_words_are_counted_by_their_confidence() -> None:
    low, high, sure = reliability(WORDS)
    assert (low.words, low.right) == (2, 0.5)
    assert low.confidence == pytest.approx(0.15)
    assert (high.words, high.right) == (2, 1.0)
    assert (sure.low, sure.words) == (0.99, 1)


def test_the_error_is_the_mean_distance_over_the_words() -> None:
    assert calibration_error([Bin(0, 0.5, 3, 0.4, 0.2), Bin(0.5, 1, 1, 0.8, 1.0)]) == pytest.approx(0.2)


def test_the_diagram_has_a_dot_for_each_range() -> None:
    drawn = ET.fromstring(diagram(reliability(WORDS)))
    assert len(drawn.findall("{http://www.w3.org/2000/svg}circle")) == 3


def test_the_line_goes_through_each_range_as_long_as_it_rises() -> None:
    bins = [Bin(0, 0.3, 8, 0.2, 0.0), Bin(0.5, 0.7, 8, 0.6, 0.5), Bin(0.8, 0.9, 8, 0.85, 1.0)]
    assert rising_line(bins) == [(0.2, 0.1), (0.6, 0.5), (0.85, 0.9)]


def test_ranges_in_which_it_falls_are_one() -> None:
    bins = [Bin(0, 0.3, 8, 0.2, 0.0), Bin(0.5, 0.7, 4, 0.6, 1.0), Bin(0.7, 0.8, 4, 0.7, 0.5)]
    assert rising_line(bins) == [(0.2, 0.1), (0.65, 0.7)]


def test_the_line_of_one_half_is_judged_by_the_other() -> None:
    doubtful, sure = [(0.6, False)] * 8, [(0.6, True)] * 8
    assert held_out_error([doubtful, doubtful]) == pytest.approx(0.1)
    assert held_out_error([doubtful, sure]) == pytest.approx(0.9)
