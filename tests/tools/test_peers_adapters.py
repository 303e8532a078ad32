"""The adapters of our own doors, on the bundled model: a change of a protocol must show here, not in a measurement."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from edge_asr.cli.stores import open_store
from edge_asr.store.store import InstalledModel
from edge_asr.workload import bundled_clips
from tools.peers_bench.adapters.commands import edge_asr_program
from tools.peers_bench.adapters.server import edge_asr_daemon, step_timing
from tools.peers_bench.cases import edge_asr_library
from tools.peers_bench.recordings import Recording, prepare
from tools.peers_bench.steps import StepTiming

pytestmark = [pytest.mark.model, pytest.mark.slow]


@pytest.fixture
def starter() -> InstalledModel:
    return open_store().find("starter-en")


@pytest.fixture
def five_five(tmp_path: Path) -> Recording:
    (clip,) = (clip for clip in bundled_clips() if clip.path.name == "five-five.flac")
    return prepare((clip,), tmp_path)[0]


def test_the_bundled_model_moves_by_320_ms(starter: InstalledModel) -> None:
    assert step_timing(starter) == StepTiming(chunk_frames=32, window_frames=45)


def test_the_daemon_is_heard_at_live_pace(starter: InstalledModel, five_five: Recording) -> None:
    with edge_asr_daemon().start(starter) as server:
        assert server.listen(five_five).text == "five five"


def test_partials_of_the_daemon_belong_to_steps(starter: InstalledModel, five_five: Recording) -> None:
    with edge_asr_daemon().start(starter) as server:
        session = asyncio.run(server.converse([five_five], time.monotonic_ns()))
    steps = [arrival.step for arrival in session.arrivals]
    assert steps == sorted(steps)
    assert set(steps) <= set(range(1, 8))
    assert steps


def test_the_library_decodes_and_listens(starter: InstalledModel, five_five: Recording) -> None:
    with edge_asr_library(open_store()).start(starter) as library:
        assert library.decode(five_five).text == "five five"
        assert library.listen(five_five).text == "five five"


def test_the_program_decodes(starter: InstalledModel, five_five: Recording) -> None:
    with edge_asr_program().start(starter) as program:
        decoded = program.decode(five_five)
    assert decoded.text == "five five"
    assert decoded.wall_s > 0
