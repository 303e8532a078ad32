"""What a final says of the confidence of its words."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from edge_asr.clock import ManualClock
from edge_asr.commands.listening import Heard
from edge_asr.engines.base import Hypothesis, Token
from edge_asr.pipeline.confidence import Calibration
from edge_asr.pipeline.text import as_is
from edge_asr.pipeline.writing import AS_HEARD
from edge_asr.requests import SessionOptions
from edge_asr.sessions.segment import Segment, SegmentSettings
from edge_asr.settings import EndpointSettings

RATE_HZ = 1000
MEASURED = Calibration(((0.4, 0.2), (0.6, 0.6)))


def confidence_of_go(case: Callable[[str], str] | None) -> float | None:
    settings = SegmentSettings("s", SessionOptions(), RATE_HZ, EndpointSettings(), as_is, AS_HEARD, True, MEASURED)
    segment = Segment(settings, ManualClock(5), lambda position: position, number=0, start=0, revision=0)
    heard = Heard(Hypothesis("go", (Token(" go", 0.1, math.log(0.5)),), RATE_HZ), None)
    final = segment.close(heard, "silence", RATE_HZ, case)
    assert final is not None
    (word,) = final.words
    return word.confidence


def test_it_is_the_share_that_was_measured_for_the_model() -> None:
    assert confidence_of_go(None) == pytest.approx(0.4)


def test_it_is_a_second_models_own_where_that_wrote_the_final() -> None:
    assert confidence_of_go(as_is) == pytest.approx(0.5)
