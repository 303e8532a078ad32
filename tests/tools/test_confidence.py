"""Reliability of confidences, by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tools.confidence import Bin, calibration_error, diagram, reliability

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
