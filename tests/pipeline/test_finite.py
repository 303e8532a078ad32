from __future__ import annotations

import numpy as np
import pytest

from edge_asr.audio import LOUDEST
from edge_asr.pipeline.finite import replace_non_finite


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, -2 * LOUDEST])
def test_what_is_no_sound_becomes_silence_and_is_counted(value: float) -> None:
    samples = np.array([0.5, value, -0.25, value], np.float32)
    clean, replaced = replace_non_finite(samples)
    assert clean.tolist() == [0.5, 0.0, -0.25, 0.0]
    assert replaced == 2


def test_sound_passes_as_the_same_array() -> None:
    samples = np.array([0.5, -1.0, 15.0], np.float32)
    clean, replaced = replace_non_finite(samples)
    assert clean is samples
    assert replaced == 0


def test_nothing_gives_nothing() -> None:
    clean, replaced = replace_non_finite(np.zeros(0, np.float32))
    assert (len(clean), replaced) == (0, 0)


def test_the_type_stays_float32() -> None:
    assert replace_non_finite(np.array([np.nan], np.float32))[0].dtype == np.float32
