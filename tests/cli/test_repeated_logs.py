from __future__ import annotations

import logging

import pytest

from edge_asr.cli.repeated_logs import LINES_PER_MINUTE, QUIET_S, REMEMBERED, LineBudget, RepeatedRemarks


class Log:
    """What passes the filter."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self._filter = RepeatedRemarks(lambda: self.now_s)

    def say(self, message: str, *arguments: object) -> str | None:
        record = logging.LogRecord("edge_asr", logging.WARNING, "", 1, message, arguments, None)
        return record.getMessage() if self._filter.filter(record) else None


@pytest.fixture
def log() -> Log:
    return Log()


def test_a_remark_is_written_once_and_then_counted(log: Log) -> None:
    said = [log.say("all %d sessions are in use", 16) for _ in range(4)]
    log.now_s += QUIET_S
    said.append(log.say("all %d sessions are in use", 16))
    assert said == [
        "all 16 sessions are in use",
        None,
        None,
        None,
        "all 16 sessions are in use (3 more times since)",
    ]


def test_remarks_about_different_things_all_pass(log: Log) -> None:
    assert [log.say("worker %d ended", number) for number in (1, 2)] == ["worker 1 ended", "worker 2 ended"]


def test_a_flood_of_different_remarks_is_not_remembered_for_ever(log: Log) -> None:
    for number in range(REMEMBERED + 1):
        log.say("remark %d", number)
    assert log.say("remark %d", 0) == "remark 0"
    assert log.say("remark %d", REMEMBERED) is None


def record(text: str, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("edge_asr", level, "", 1, text, (), None)


def test_lines_beyond_the_budget_of_a_minute_are_counted() -> None:
    now_s = [0.0]
    budget = LineBudget(lambda: now_s[0])
    written = [budget.filter(record(f"client {number}")) for number in range(LINES_PER_MINUTE + 5)]
    assert written == [True] * LINES_PER_MINUTE + [False] * 5
    now_s[0] = 60.0
    late = record("later")
    assert budget.filter(late)
    assert late.getMessage() == "later (5 other lines were not logged)"


def test_errors_need_no_budget() -> None:
    budget = LineBudget(lambda: 0.0)
    for number in range(LINES_PER_MINUTE):
        budget.filter(record(f"client {number}"))
    assert budget.filter(record("grave", logging.ERROR))
