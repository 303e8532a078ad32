from __future__ import annotations

import logging
import sys

import pytest

from edge_asr.clock import ManualClock
from edge_asr.workers.stderr_log import LINES_PER_MINUTE, PrefixFormatter, StderrLog, level_of


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def stderr_log(clock, caplog):
    caplog.set_level(logging.DEBUG, "test.worker")
    return StderrLog(logging.getLogger("test.worker"), "worker 7", clock)


def logged(caplog):
    return [(record.levelname, record.getMessage()) for record in caplog.records]


def test_our_own_lines_keep_their_level(stderr_log, caplog):
    stderr_log.feed(b"<3>broken\n<4>odd\n<6>ready\n<7>detail\n")
    assert [level for level, _ in logged(caplog)] == ["ERROR", "WARNING", "INFO", "DEBUG"]
    assert logged(caplog)[0] == ("ERROR", "worker 7: broken")


def test_native_lines_are_warnings_when_they_sound_like_trouble(stderr_log, caplog):
    stderr_log.feed(b"session.cc:GetSessionOptions:331 Fallback to cpu!\nCreating a resampler\n")
    assert [level for level, _ in logged(caplog)] == ["WARNING", "DEBUG"]


def test_lines_may_arrive_in_pieces(stderr_log, caplog):
    for piece in (b"<6>one", b" line\n<6>an", b"other"):
        stderr_log.feed(piece)
    stderr_log.close()
    assert [text for _, text in logged(caplog)] == ["worker 7: one line", "worker 7: another"]


def test_bytes_that_are_no_text_are_logged_all_the_same(stderr_log, caplog):
    stderr_log.feed(b"<4>\xff\xfe\n")
    assert logged(caplog) == [("WARNING", "worker 7: ��")]


def test_a_line_without_end_is_cut(stderr_log, caplog):
    stderr_log.feed(b"error " + b"x" * 5000)
    stderr_log.feed(b"y" * 10)
    assert len(logged(caplog)) == 1
    assert len(caplog.records[0].getMessage()) < 4200


def test_a_flood_of_lines_is_counted_and_not_logged(stderr_log, caplog, clock):
    stderr_log.feed(b"<4>again\n" * (LINES_PER_MINUTE + 40))
    assert len(caplog.records) == LINES_PER_MINUTE
    clock.advance_ms(60_000)
    stderr_log.feed(b"<4>later\n")
    assert [text for _, text in logged(caplog)[-2:]] == [
        "worker 7: 40 more lines within a minute were not logged",
        "worker 7: later",
    ]


def test_the_last_words_are_the_last_line_that_tells_of_trouble(stderr_log):
    stderr_log.feed(b"starting\n'T' does not exist in the metadata\ngood bye\n")
    assert stderr_log.last_words == "'T' does not exist in the metadata"


def test_without_trouble_the_last_words_are_the_last_line(stderr_log):
    assert stderr_log.last_words == ""
    stderr_log.feed(b"one\ntwo\n")
    assert stderr_log.last_words == "two"


def test_every_line_of_a_traceback_has_its_level():
    try:
        int("no")
    except ValueError:
        record = logging.LogRecord("edge_asr.x", logging.ERROR, "x.py", 1, "it broke", None, sys.exc_info())
    lines = PrefixFormatter("%(name)s: %(message)s").format(record).splitlines()
    assert lines[0] == "<3>edge_asr.x: it broke"
    assert lines[-1].startswith("<3>ValueError: invalid literal")
    assert {level_of(line)[0] for line in lines} == {logging.ERROR}
