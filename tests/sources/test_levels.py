"""What is said about float samples that no integer could hold."""

from __future__ import annotations

import numpy as np

from edge_asr.sources.levels import LevelCheck


def observed(*blocks: list[float]) -> list[str]:
    check = LevelCheck()
    for block in blocks:
        check.observe(np.array(block, np.float32))
    return check.warnings()


def test_ordinary_samples_are_nothing_to_speak_of() -> None:
    assert observed([0.5, -1.0], [], [1.0]) == []


def test_samples_that_are_no_number_are_counted_over_all_blocks() -> None:
    assert observed([float("nan"), 0.5], [float("inf")]) == ["2 samples are not finite numbers and count as silence"]


def test_the_loudest_sample_is_named_when_it_is_beyond_full_scale() -> None:
    assert observed([0.5, -15.0], [2.0]) == ["the loudest sample is 15, beyond full scale (1.0)"]


def test_blocks_are_handed_on_unchanged() -> None:
    block = np.array([float("nan"), 3.0], np.float32)

    assert LevelCheck().observe(block) is block
