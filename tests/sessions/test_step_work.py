from __future__ import annotations

from types import SimpleNamespace

import pytest

from edge_asr.requests import SessionOptions
from edge_asr.sessions.step_work import StepWork

LIVE = SimpleNamespace(options=SessionOptions())
RECORDING = SimpleNamespace(options=SessionOptions(is_batch=True))
SECOND_NS = 1_000_000_000


def test_sums_are_those_of_the_fit() -> None:
    work = StepWork()
    work.add([LIVE, LIVE, LIVE], [None] * 3, 0, SECOND_NS)
    work.add([LIVE], [None], 0, 2 * SECOND_NS)
    assert (work.streams_squared, work.stream_decode_s) == (10, 5.0)
    assert (work.live_streams, work.live_decode_s) == (4, 3.0)


def test_recordings_are_not_live() -> None:
    work = StepWork()
    work.add([LIVE, RECORDING], [None, None], 0, SECOND_NS)
    assert (work.live_streams, work.live_decode_s) == (1, 0.5)


@pytest.mark.parametrize(
    ("session", "due_ns", "late"),
    [(LIVE, SECOND_NS - 1, 1), (LIVE, SECOND_NS, 0), (LIVE, None, 0), (RECORDING, 0, 0)],
    ids=["late", "in time", "only its end is left", "nobody waits"],
)
def test_a_step_that_ends_after_it_was_due_is_late(session: SimpleNamespace, due_ns: int | None, late: int) -> None:
    work = StepWork()
    work.add([session], [due_ns], 0, SECOND_NS)
    assert work.late_streams == late
