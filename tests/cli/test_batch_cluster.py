"""``edge-asr batch --scheduler``: a Dask cluster of separate processes, of which some end."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import edge_asr
from edge_asr.batch.foreman import Foreman
from edge_asr.batch.ledger import Ledger
from edge_asr.batch.messages import Order, Task, Unfit
from edge_asr.batch.order import make_order, recipe_of
from edge_asr.batch.recordings import Recording, find_recordings
from edge_asr.cli import batch_worker
from edge_asr.cli.batch_cluster import ClusterCrew
from edge_asr.settings import Settings
from edge_asr.store.locations import store_locations
from edge_asr.store.store import ModelStore
from tests.cli.test_batch import ledger_places

distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")

CLIPS = Path(edge_asr.__file__).parent / "clips"

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    """Two workers, each a process that is started again when it ends."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=False
    ) as cluster:
        yield cluster


@pytest.fixture
def order() -> Order:
    return make_order(ModelStore(store_locations({})).find("starter-en"), Settings(), None, "mix")


@pytest.fixture
def recordings(tmp_path: Path) -> list[Recording]:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(24):
        shutil.copy(CLIPS / "go-forward.flac", folder / f"{number:02}.flac")
    return find_recordings([str(folder)], tmp_path / "out")


def worker_pids(cluster) -> list[int]:
    return [worker.process.pid for worker in cluster.workers.values()]


def test_a_worker_that_is_killed_in_the_middle_loses_and_doubles_nothing(cluster, order, recordings, tmp_path) -> None:
    output = tmp_path / "out"
    ledger = Ledger.open(output, recipe_of(order, "text"))
    crew = ClusterCrew(cluster.scheduler_address, order)
    written: list[str] = []

    def kill_one(_recording: Recording, settled: int) -> None:
        if settled == 3:
            os.kill(worker_pids(cluster)[0], signal.SIGKILL)

    def render(recording: Recording, heard) -> dict[str, str]:
        written.append(recording.place)
        return {f"{recording.place}.txt": heard[0].finals[0].text}

    try:
        report = Foreman(output, ledger, crew, render, kill_one).run(recordings)
    finally:
        crew.close()
        ledger.close()

    assert (report.done, report.bad) == (24, [])
    assert sorted(written) == sorted(ledger_places(output)) == [recording.place for recording in recordings]
    assert {path.read_text() for path in output.glob("*.txt")} == {"go forward ten meters"}
    assert len(list(output.glob("*.txt"))) == 24


def test_the_command_says_what_it_says_on_one_machine(cluster, run, recordings, tmp_path) -> None:
    folder = recordings[0].path.parent
    (folder / "bad.wav").write_bytes(b"RIFF")
    words = ("-m", "starter-en", "--json", "-o", tmp_path / "out", folder)

    ran = run("batch", "--scheduler", cluster.scheduler_address, *words)

    report = json.loads(ran.out)
    assert (ran.status, report["done"], [bad["file"] for bad in report["bad"]]) == (3, 24, [f"{folder}/bad.wav"])
    assert report["crew"] == f"2 workers of the Dask scheduler at {cluster.scheduler_address}"


def test_nobody_at_the_address(run, recordings, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("edge_asr.cli.batch_cluster.CONNECT_TIMEOUT_S", 1)
    folder = recordings[0].path.parent
    ran = run("batch", "--scheduler", "tcp://127.0.0.1:9", "-m", "starter-en", "-o", tmp_path / "out", folder)

    assert ran.status == 5
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in ran.err


class TestWorker:
    """What runs in a Dask worker, in this process."""

    @pytest.fixture(autouse=True)
    def fresh(self, monkeypatch) -> list[object]:
        loaded: list[object] = []
        monkeypatch.setattr(batch_worker, "_loaded", loaded)
        return loaded

    def test_the_model_is_loaded_once(self, order, fresh) -> None:
        batch_worker.hear_here(order, Task(0, str(CLIPS / "go-forward.flac")))
        first = fresh[0]
        batch_worker.hear_here(order, Task(1, str(CLIPS / "five-five.flac")))

        assert fresh == [first]

    def test_a_model_at_another_place_is_found_by_name(self, order, alone) -> None:
        elsewhere = msgspec.structs.replace(order.configure, model_directory="/nowhere")
        done = batch_worker.hear_here(
            msgspec.structs.replace(order, configure=elsewhere), Task(0, str(CLIPS / "five-five.flac"))
        )

        assert not isinstance(done, Unfit)

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"version": "0.0.1"}, "the batch was given out by 0.0.1"),
            (
                {"model": "no-such-model"},
                "model 'no-such-model' is not installed; `edge-asr models pull",
            ),
            ({"digests": {"model.int8.onnx": "0"}}, "has other files here"),
        ],
    )
    def test_a_worker_that_would_write_other_words_refuses(self, order, alone, change, sentence) -> None:
        elsewhere = msgspec.structs.replace(order.configure, model_directory="/nowhere")
        refused = batch_worker.hear_here(
            msgspec.structs.replace(order, configure=elsewhere, **change), Task(0, str(CLIPS / "five-five.flac"))
        )

        assert isinstance(refused, Unfit)
        assert sentence in refused.message
