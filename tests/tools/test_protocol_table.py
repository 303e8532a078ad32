"""The contract of all protocols: the same audio gives the same words, in order, and exactly one end."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.protocol_table.cycles import Growth
from tools.protocol_table.daemon import Daemon, running
from tools.protocol_table.program import Program
from tools.protocol_table.programs import PROGRAMS
from tools.protocol_table.recording import Recording, make_recording
from tools.protocol_table.table import Row, judge, markdown

BUNDLED_TWIN = Path(__file__).parents[2] / "models" / "starter-en-transducer"
"""Its text only ever grows: every protocol that has partials sends them."""

ROW = Row("vosk", "test.py", True, True, None, True, True, True)


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with running(str(BUNDLED_TWIN)) as started:
        yield started


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return make_recording(tmp_path_factory.mktemp("recording"))


@pytest.mark.model
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: f"{program.protocol}: {program.client}")
async def test_every_client_program_hears_the_same(program: Program, daemon: Daemon, recording: Recording) -> None:
    row = await judge(program, daemon, recording)
    assert row.is_ok, row


def test_a_row_is_green_when_nothing_is_wrong_and_what_there_is_not_does_not_count() -> None:
    assert ROW.is_ok
    assert not dataclasses.replace(ROW, survives_drop=False).is_ok
    assert ROW.document()["ok"]


def test_the_table_marks_what_is_wrong() -> None:
    (line,) = markdown([dataclasses.replace(ROW, text=False)]).splitlines()[2:]
    assert line == "| vosk | test.py | **no** | yes | – | yes | yes | yes |"


def test_growth_is_judged_by_descriptors_and_by_memory() -> None:
    flat = Growth("vosk", 1000, 20, 21, 100 << 20, 102 << 20)
    assert flat.is_ok
    assert not dataclasses.replace(flat, descriptors_after=40).is_ok
    assert not dataclasses.replace(flat, memory_after_bytes=120 << 20).is_ok
