"""How a bench ends, and what a task is made of."""

from __future__ import annotations

import msgspec
import pytest

from edge_asr.bench.document import Drift, Violation, read_document
from edge_asr.cli.bench_job import Workloads, exit_code, is_for_others, say_set_aside, settings_of, task_of
from edge_asr.cli.stores import open_store
from edge_asr.errors import InputError
from edge_asr.settings import Settings
from edge_asr.workers.configuration import unpack
from tests.bench.documents import configuration, disturbed, document, throughput_result
from tests.bench.tasks import throughput_run
from tests.cli.conftest import Run

LEAK = Drift(figure="memory_growth", message="memory grows by 3.0 MiB/h")


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (throughput_result(), 0),
        (disturbed(throughput_result()), 6),
        (throughput_result(drifts=(LEAK,)), 6),
        (throughput_result(error="it is no model", error_code="model_damaged"), 4),
        (throughput_result(error="not here", error_code="provider_unavailable"), 5),
        (throughput_result(error="too little", error_code="not_enough_memory"), 5),
        (throughput_result(error="gone", error_code="audio_not_found"), 3),
        (throughput_result(error="core 9", error_code="configuration_invalid"), 2),
        (throughput_result(error="a fault", error_code="internal"), 1),
    ],
)
def test_the_exit_code_says_how_it_went(result, code):
    assert exit_code(document(throughput_result(), result)) == code


def test_a_run_that_is_measured_again_is_said_with_what_disturbed_it(capsys):
    say_set_aside(configuration(), throughput_run(violations=(Violation("swapped_in", "12 pages were swapped in"),)))
    assert capsys.readouterr().err == (
        "edge-asr: note: a run of starter-en · throughput · 1 thread was disturbed and is measured again: "
        "12 pages were swapped in\n"
    )


def test_a_configuration_becomes_settings():
    varied = configuration(threads=2, cpus=(0, 1), provider="xnnpack", max_batch=4, allow_spinning=True)
    settings = settings_of(varied, Settings())
    assert (settings.engine.threads, settings.engine.provider, settings.engine.allow_spinning) == (2, "xnnpack", True)
    assert (settings.worker.cpus, settings.scheduler.max_batch) == ((0, 1), 4)
    assert settings.endpoint == Settings().endpoint


def test_a_task_carries_settings_and_recordings():
    model = open_store().resolve("starter-en")
    task = task_of(configuration(threads=2), Settings(), model, Workloads(None).clips(model), None)
    assert unpack(task.configure).engine.threads == 2
    assert [(clip.name, clip.reference) for clip in task.clips[:2]] == [
        ("go-forward.flac", "go forward ten meters"),
        ("five-five.flac", "five five"),
    ]
    assert {clip.vocabulary for clip in task.clips} == {"commands"}
    assert task.language == "en"
    assert task.clips_s == sum(audio.audio_s for audio in Workloads(None).clips(model)) > 3


def test_a_model_for_an_npu_beside_the_one_it_was_made_from_each_runs_where_it_can():
    original = open_store().resolve("starter-en").manifest
    file = msgspec.structs.replace(original.files["model"], path="model.rknn")
    compiled = msgspec.structs.replace(original, files={**original.files, "model": file})
    asked = ("cpu", "rknn")
    assert [is_for_others(original, provider, asked) for provider in asked] == [False, True]
    assert [is_for_others(compiled, provider, asked) for provider in asked] == [True, False]
    assert not is_for_others(compiled, "cpu", ("cpu",))  # nothing is left then: its error says why


def test_of_a_model_nobody_knows_all_recordings_are_played():
    assert {audio.clip.vocabulary for audio in Workloads(None).clips(None)} == {"commands", "open"}


def test_recordings_that_cannot_be_used_are_left_out(tmp_path, capsys):
    (tmp_path / "bad.wav").write_bytes(b"no audio")
    with pytest.raises(InputError, match="none of the recordings can be used"):
        Workloads(tmp_path).clips(None)
    assert "left out" in capsys.readouterr().err


@pytest.mark.model
def test_a_bench_shows_its_table_and_leaves_its_document(run: Run, tmp_path) -> None:
    path = tmp_path / "bench.json"
    ran = run("bench", "--mode", "throughput", "--seconds", "5", "--repeat", "2", "--json", path)
    found = read_document(path)
    assert ran.status == (0 if found.is_valid else 6)
    assert "starter-en" in ran.out
    (result,) = found.results
    assert len(result.runs) == 2
    assert result.configuration.threads == Settings().engine.threads
    assert (result.figures["wer"].value or 0.0) < 0.1
    assert {"rtf_wall", "rtf_model", "load", "load_cold"} <= set(result.figures)
    assert found.models[0].name == "starter-en"
    assert msgspec.json.decode(msgspec.json.encode(found)) == msgspec.json.decode(path.read_bytes())


def test_a_model_that_is_not_there_is_said(run: Run) -> None:
    assert run("bench", "nonesuch").status == 4


def test_a_wrong_word_is_said_before_anything_is_loaded(run: Run) -> None:
    ran = run("bench", "--threads", "many")
    assert (ran.status, ran.out) == (2, "")
