"""The foreman, with a crew that answers as it is told."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from edge_asr.batch.foreman import Foreman, Report
from edge_asr.batch.ledger import FOLDER, Ledger
from edge_asr.batch.messages import Done, Heard, Lost, Outcome, Returned, Task, Unusable
from edge_asr.batch.recordings import Recording
from edge_asr.errors import MachineError
from edge_asr.events import Final
from tests.batch.test_ledger import RECIPE


def done(number: int) -> Done:
    return Done(number, (Heard("", (Final("s", 0, f"words {number}", (), 0.0, 1.0, "end_of_audio", 0),), 1.5, 0.1),))


class ToldCrew:
    """Hears ``size`` recordings at a time; what becomes of each is in ``fates``, and else it is heard."""

    description = "told"

    def __init__(self, size: int, fates: dict[int, list[type[Lost | Unusable | Returned]]]) -> None:
        self.size = size
        self.fates = fates
        self.given: list[int] = []
        self.most_at_a_time = 0
        self._out: deque[Task] = deque()

    def room(self) -> int:
        return self.size - len(self._out)

    def give(self, task: Task) -> None:
        self.given.append(task.number)
        self._out.append(task)
        self.most_at_a_time = max(self.most_at_a_time, len(self._out))

    def next(self, timeout_s: float) -> Outcome | None:
        task = self._out.popleft()
        fates = self.fates.get(task.number)
        if not fates:
            return done(task.number)
        fate = fates.pop(0)
        if fate is Unusable:
            return Unusable(task.number, "audio_unreadable", f"{task.path}: it is no audio")
        return Lost(task.number, "signal 9") if fate is Lost else Returned(task.number)

    def close(self) -> None:
        pass


@pytest.fixture
def recordings(tmp_path: Path) -> list[Recording]:
    for number in range(6):
        (tmp_path / f"{number}.wav").write_bytes(b"audio")
    return [Recording(tmp_path / f"{number}.wav", f"{number}.wav") for number in range(6)]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out"


def run(output: Path, recordings: list[Recording], crew: ToldCrew) -> Report:
    ledger = Ledger.open(output, RECIPE)

    def render(recording: Recording, heard: object) -> dict[str, str]:
        return {f"{recording.place}.txt": heard[0].finals[0].text}  # type: ignore[index]

    try:
        return Foreman(output, ledger, crew, render, lambda _recording, _settled: None).run(recordings)
    finally:
        ledger.close()


def texts(output: Path) -> Iterator[str]:
    return (path.read_text() for path in sorted(output.glob("*.txt")))


def test_everything_is_heard_once_and_only_as_much_as_there_is_room_for(output, recordings) -> None:
    crew = ToldCrew(2, {})
    report = run(output, recordings, crew)

    assert sorted(crew.given) == [0, 1, 2, 3, 4, 5]
    assert crew.most_at_a_time == 2
    assert list(texts(output)) == [f"words {number}" for number in range(6)]
    assert (report.done, report.audio_s, report.bad) == (6, 9.0, [])


def test_the_largest_is_begun_first(output, recordings) -> None:
    recordings[3].path.write_bytes(b"a longer recording")
    crew = ToldCrew(1, {})
    run(output, recordings, crew)

    assert crew.given == [3, 0, 1, 2, 4, 5]


def test_the_next_run_hears_only_what_is_left(output, recordings) -> None:
    run(output, recordings[:4], ToldCrew(2, {}))
    crew = ToldCrew(2, {})
    report = run(output, recordings, crew)

    assert crew.given == [4, 5]
    assert (report.done, report.done_before) == (2, 4)


def test_bad_ones_are_reported_and_the_others_are_done(output, recordings) -> None:
    report = run(output, recordings, ToldCrew(2, {1: [Unusable], 4: [Unusable]}))

    assert [entry.place for entry in report.bad] == ["1.wav", "4.wav"]
    assert report.done == 4


def test_one_whose_worker_ended_is_heard_again_alone_and_at_the_end(output, recordings) -> None:
    crew = ToldCrew(3, {0: [Lost]})
    report = run(output, recordings, crew)

    assert crew.given == [0, 1, 2, 3, 4, 5, 0]
    assert (report.done, report.lost_workers, report.bad) == (6, 1, [])


def test_one_that_ends_every_worker_is_given_up(output, recordings) -> None:
    report = run(output, recordings, ToldCrew(3, {2: [Lost, Lost]}))

    (entry,) = report.bad
    assert (entry.place, entry.code) == ("2.wav", "worker_died")
    assert entry.message == f"{recordings[2].path}: 2 workers ended while they heard it (signal 9)"
    assert report.done == 5


def test_one_that_nobody_began_with_is_given_out_again_without_blame(output, recordings) -> None:
    report = run(output, recordings, ToldCrew(1, {3: [Returned, Returned, Returned]}))

    assert (report.done, report.lost_workers, report.bad) == (6, 0, [])


def test_one_that_changes_while_it_is_heard_is_heard_again_by_the_next_run(output, recordings) -> None:
    class Overwriting(ToldCrew):
        def next(self, timeout_s: float) -> Outcome | None:
            recordings[0].path.write_bytes(b"other audio")
            return super().next(timeout_s)

    run(output, recordings[:1], Overwriting(1, {}))
    crew = ToldCrew(1, {})
    run(output, recordings[:1], crew)

    assert crew.given == [0]


def test_a_transcript_that_cannot_be_written_ends_the_run_by_its_path(output, recordings) -> None:
    (output / FOLDER).mkdir(parents=True)
    (output / FOLDER / "unfinished").symlink_to("/dev/full")

    with pytest.raises(MachineError, match=r"cannot write .*0\.wav\.txt"):
        run(output, recordings, ToldCrew(1, {}))


def test_a_name_that_is_no_text_is_remembered(output, tmp_path) -> None:
    path = tmp_path / "\udcff.wav"
    path.write_bytes(b"audio")
    recordings = [Recording(path, path.name)]
    run(output, recordings, ToldCrew(1, {}))

    assert run(output, recordings, ToldCrew(1, {})).done_before == 1


def test_a_transcript_that_cannot_have_its_name_holds_nobody_up(output, recordings) -> None:
    (output / "3.wav.txt").mkdir(parents=True)

    report = run(output, recordings, ToldCrew(1, {}))

    assert report.done == 5
    assert [(entry.place, entry.code) for entry in report.bad] == [("3.wav", "transcript_unwritable")]
    assert "3.wav.txt cannot be written (Is a directory); give the recording another name" in report.bad[0].message
