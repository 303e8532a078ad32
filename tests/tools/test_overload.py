from __future__ import annotations

from typing import Any

import pytest

from tools.overload import complaints
from tools.overload_probe import figures_of

GOOD: dict[str, Any] = {
    "refused": 3,
    "unclear": [],
    "lost": [],
    "accepted": 5,
    "finished": 5,
    "late_share": 0.01,
    "answers": {"health": {"answers": 150, "judged_ms": 99.0, "slowest_ms": 300.0}},
    "backlog_s": 0.0,
    "memory_growth_bytes": 1_000_000,
    "open_files_growth": 0,
    "restarts": 0,
}


def test_a_run_that_holds_is_not_complained_about() -> None:
    assert complaints(GOOD) == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"refused": 0}, "nobody was refused"),
        ({"unclear": ["0 {}"]}, "refusals are unclear"),
        ({"lost": ["TimeoutError()"]}, "accepted sessions were lost"),
        ({"finished": 4}, "accepted sessions were lost"),
        ({"late_share": 0.011}, "steps were late"),
        ({"late_share": None}, "steps were late"),
        ({"answers": {}}, "nothing was asked"),
        ({"answers": {"metrics": {"judged_ms": 101.0}}}, "questions were answered late"),
        ({"backlog_s": 0.3}, "audio waits"),
        ({"memory_growth_bytes": 30_000_000}, "memory grew"),
        ({"open_files_growth": 9}, "open files grew"),
        ({"restarts": 1}, "a worker was replaced"),
    ],
)
def test_what_does_not_hold_is_named(change: dict[str, Any], complaint: str) -> None:
    assert complaints(GOOD | change) == [complaint]


@pytest.mark.parametrize(("answers_ms", "judged_ms"), [([1.0, 9.0], 9.0), ([1.0] * 999 + [500.0], 1.0)])
def test_questions_are_judged_by_their_99th_percentile_where_there_is_one(
    answers_ms: list[float], judged_ms: float
) -> None:
    figures = figures_of(answers_ms)
    assert (figures["judged_ms"], figures["slowest_ms"], figures["answers"]) == (
        judged_ms,
        max(answers_ms),
        len(answers_ms),
    )
