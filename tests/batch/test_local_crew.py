"""Workers on this machine: real processes with a scripted engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from edge_asr.batch.local_crew import LocalCrew
from edge_asr.batch.memory_valve import MemoryValve
from edge_asr.batch.messages import Done, Lost, Order, Outcome, Task, Unusable
from edge_asr.errors import EngineFailed, ModelDamaged
from edge_asr.settings import WorkerSettings
from tests.workers import scripted

VALVE = MemoryValve(worker_bytes=10, reserve_bytes=5)
PLENTY = 1000


@contextmanager
def crew_of(
    size: int,
    order: Order,
    loader: Callable[..., object] = scripted.load,
    available_bytes: Callable[[], int] = lambda: PLENTY,
    **settings: float,
) -> Iterator[LocalCrew]:
    crew = LocalCrew(
        order,
        size,
        VALVE,
        available_bytes,
        WorkerSettings(**settings),  # type: ignore[arg-type]
        loader=f"{scripted.MODULE}:{loader.__name__}",
    )
    with closing(crew):
        yield crew


def outcome_of(crew: LocalCrew) -> Outcome:
    while (outcome := crew.next(60)) is None:
        pass
    return outcome


def task(number: int, path: Path) -> Task:
    return Task(number, str(path))


def test_a_recording_comes_back_with_its_words(make_recording, order) -> None:
    with crew_of(1, order) as crew:
        crew.give(task(7, make_recording("a.wav", scripted.WORD, scripted.WORD).path))
        outcome = outcome_of(crew)

    assert isinstance(outcome, Done)
    (heard,) = outcome.heard
    assert (outcome.number, [final.text for final in heard.finals], heard.audio_s) == (7, ["word word"], 0.2)


def test_the_model_is_loaded_once_for_many_recordings(make_recording, order) -> None:
    with crew_of(1, order, scripted.load_once) as crew:
        for number in range(3):
            crew.give(task(number, make_recording(f"{number}.wav").path))
            assert isinstance(outcome_of(crew), Done)


def test_a_bad_recording_costs_nobody_the_worker(make_recording, order, tmp_path) -> None:
    (tmp_path / "bad.wav").write_bytes(b"")
    with crew_of(1, order, scripted.load_once) as crew:
        crew.give(task(0, tmp_path / "bad.wav"))
        assert outcome_of(crew) == Unusable(0, "audio_unreadable", f"{tmp_path}/bad.wav: the file is empty")
        crew.give(task(1, make_recording("failing.wav", scripted.RAISE).path))
        failed = outcome_of(crew)
        crew.give(task(2, make_recording("good.wav").path))
        assert isinstance(outcome_of(crew), Done)

    assert isinstance(failed, Unusable)
    assert failed.code == EngineFailed.code


def test_a_recording_that_ends_its_worker_is_lost_with_the_reason_and_the_next_worker_hears(
    make_recording, order
) -> None:
    with crew_of(1, order) as crew:
        crew.give(task(0, make_recording("deadly.wav", scripted.DIE).path))
        assert outcome_of(crew) == Lost(0, "killed by signal 6 (SIGABRT): dying as told: error")
        crew.give(task(1, make_recording("good.wav").path))
        assert isinstance(outcome_of(crew), Done)


def test_a_worker_that_hangs_is_given_up(make_recording, order) -> None:
    (Path(order.configure.model_directory) / "closed").touch()
    with crew_of(1, order, stall_timeout_s=1.0) as crew:
        crew.give(task(0, make_recording("a.wav").path))
        assert outcome_of(crew) == Lost(0, "it hung")


def test_a_model_that_cannot_be_loaded_ends_the_run(make_recording, order) -> None:
    with crew_of(1, order, scripted.fail_to_load) as crew, pytest.raises(ModelDamaged, match="it is no model"):
        crew.give(task(0, make_recording("a.wav").path))
        outcome_of(crew)


def test_a_model_that_ends_every_worker_ends_the_run(make_recording, order) -> None:
    with crew_of(1, order, scripted.end_while_loading) as crew, pytest.raises(ModelDamaged, match="the engine refuses"):
        for number in range(9):
            crew.give(task(number, make_recording("a.wav").path))
            outcome_of(crew)


class TestMemory:
    def test_as_many_are_begun_as_it_is_enough_for(self, make_recording, order) -> None:
        with crew_of(8, order, available_bytes=lambda: 25) as crew:
            assert crew.room() == 2
            crew.give(task(0, make_recording("a.wav").path))
            assert crew.room() == 1  # the one that is loading has not taken its share yet

    def test_one_is_begun_however_little_there_is(self, make_recording, order) -> None:
        with crew_of(8, order, available_bytes=lambda: 1) as crew:
            assert crew.room() == 1
            crew.give(task(0, make_recording("a.wav").path))
            assert crew.room() == 0

    def test_whoever_is_idle_gives_it_back_when_it_is_short(self, make_recording, order) -> None:
        available = [PLENTY]
        with crew_of(2, order, available_bytes=lambda: available[0]) as crew:
            for number in range(2):
                crew.give(task(number, make_recording(f"{number}.wav").path))
            for _ in range(2):
                outcome_of(crew)
            assert (crew.size, crew.room()) == (2, 2)
            available[0] = 4
            assert crew.room() == 1
            assert crew.size == 1
