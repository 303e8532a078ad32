"""``edge-asr selftest`` as it is called from a unit file."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from edge_asr.bench.child import Task
from edge_asr.bench.document import Result, Violation
from edge_asr.bench.gate import Gate, Surroundings, judge
from edge_asr.bench.selftest import Remedy, SelfTest
from edge_asr.cli.selftest_job import Tasks, original_of, show
from edge_asr.cli.stores import open_store
from edge_asr.resources.topology import Core, Topology
from edge_asr.settings import SecondPassSettings, Settings
from edge_asr.store.store import InstalledModel, ModelStore
from tests.bench.documents import configuration, disturbed, milliseconds, ratio, throughput_result
from tests.cli.conftest import Run
from tools.json_schemas import schemas

GATES = (Gate(figure="rtf_wall", max=0.5), Gate(figure="chunk_compute_p90", max=10.0, optional=True))


def shown(capsys: pytest.CaptureFixture[str], *results: Result, remedies: tuple[Remedy, ...] = ()) -> str:
    judgement = judge(GATES, results, Surroundings(chunk_ms=320.0, memory_bytes=1 << 30))
    outcome = SelfTest(verdict=judgement.verdict, judgement=judgement, results=results, remedies=remedies)
    show(outcome, "starter-en", "this machine")
    return capsys.readouterr().out


def measured(rtf: float) -> Result:
    return throughput_result(
        figures={"rtf_wall": ratio(rtf), "chunk_compute_p90": milliseconds(None, note="n too small (9, 64 needed)")}
    )


def test_each_gate_has_its_figure_limit_and_margin(capsys):
    lines = shown(capsys, measured(0.1)).splitlines()
    row = next(line for line in lines if line.startswith("rtf_wall"))
    assert row.split() == ["rtf_wall", "0.100", "≤", "0.500", "80%", "ok"]
    assert lines[-1] == "PASS"


def test_a_gate_that_was_left_out_says_why(capsys):
    assert "left out: n too small (9, 64" in shown(capsys, measured(0.1))


def test_a_failure_is_marked_and_what_was_tried_is_told(capsys):
    remedies = (
        Remedy(change="engine.threads = 2", configuration=configuration(), would_pass=True, figures={"rtf_wall": 0.4}),
        Remedy(change="the model tiny", configuration=configuration(), would_pass=False, figures={}, error="damaged"),
    )
    said = shown(capsys, measured(0.8), remedies=remedies)
    assert "FAILED" in said
    assert "tried engine.threads = 2: would PASS (rtf_wall 0.4)" in said
    assert "tried the model tiny: damaged" in said
    assert said.splitlines()[-1] == "FAIL"


def test_nothing_that_helps_is_said(capsys):
    remedy = Remedy(change="engine.threads = 2", configuration=configuration(), would_pass=False, figures={})
    assert "nothing that was tried would pass" in shown(capsys, measured(0.8), remedies=(remedy,))


def test_an_invalid_run_says_what_disturbed_it(capsys):
    said = shown(capsys, disturbed(measured(0.1), Violation("throttled", "the firmware throttled the board")))
    assert "invalid: the firmware throttled the board" in said
    assert said.splitlines()[-1] == "INVALID"


@pytest.mark.model
def test_a_quick_test_of_the_bundled_model_is_one_document(run: Run, tmp_path: Path) -> None:
    gates = tmp_path / "gates.toml"
    gates.write_text('[[gate]]\nfigure = "wer"\nmax = 0.1\n\n[[gate]]\nfigure = "memory_peak"\nmax = 400e6\n')
    ran = run("selftest", "--quick", "--gate", gates, "--json", "-")
    document = json.loads(ran.out)
    jsonschema.Draft202012Validator(schemas()["selftest.schema.json"]).validate(document)
    assert document["verdict"] in ("PASS", "INVALID")  # the machine that runs the tests may be busy
    assert ran.status == (0 if document["verdict"] == "PASS" else 6)
    assert all(gate["is_met"] for gate in document["judgement"]["outcomes"])
    assert (document["length"], document["own_gates"], document["model"]["name"]) == ("quick", True, "starter-en")


def test_a_wrong_gate_file_is_said_before_anything_is_measured(run: Run, tmp_path: Path) -> None:
    gates = tmp_path / "gates.toml"
    gates.write_text('[[gate]]\nfigure = "speed"\nmax = 1\n')
    ran = run("selftest", "--gate", gates)
    assert (ran.status, ran.out) == (2, "")
    assert "no figure is called 'speed'" in ran.err


def test_a_model_that_is_not_there_is_said(run: Run) -> None:
    assert run("selftest", "nonesuch").status == 4


def test_quick_and_long_exclude_each_other(run: Run) -> None:
    ran = run("selftest", "--quick", "--long")
    assert ran.status == 2
    assert ran.err == "edge-asr: error: --quick and --long exclude each other; see `edge-asr selftest --help`\n"


def tasks_of(store: ModelStore, second: str) -> Tasks:
    two_cores = Topology(tuple(Core(cpu, 0, 0, frozenset({cpu})) for cpu in (0, 1)))
    return Tasks(store, Settings(second_pass=SecondPassSettings(second)), two_cores)


def behind(task: Task) -> tuple[str, str]:
    """The second pass of a task, by the name that is shown and by the folder that is loaded."""
    return task.configuration.second_pass, Path(task.configure.second_model).name


def test_a_model_is_tested_with_the_second_pass_that_would_be_served(two_tiers: ModelStore) -> None:
    small, better = two_tiers.resolve("small"), two_tiers.resolve("better")
    assert behind(tasks_of(two_tiers, "better").as_configured(small)) == ("better", "better")
    assert behind(tasks_of(two_tiers, "better").as_configured(better)) == ("", "")
    assert behind(tasks_of(two_tiers, "").as_configured(small)) == ("", "")


def test_with_a_second_pass_words_are_tested_that_the_first_model_does_not_know(two_tiers: ModelStore) -> None:
    small = two_tiers.resolve("small")
    closed = msgspec.structs.replace(small.manifest, words_note="commands only")
    small = dataclasses.replace(small, manifest=closed)
    alone, both = (tasks_of(two_tiers, second).as_configured(small) for second in ("", "better"))
    assert {clip.vocabulary for clip in alone.clips} == {"commands"}
    assert {clip.vocabulary for clip in both.clips} == {"commands", "open"}


def test_the_first_thing_that_may_help_is_no_second_pass(two_tiers: ModelStore) -> None:
    tasks, small = tasks_of(two_tiers, "better"), two_tiers.resolve("small")
    first, *others = tasks.alternatives(small, tasks.as_configured(small))
    assert (first.change, behind(first.task)) == ("no second_pass.model", ("", ""))
    assert others
    assert {behind(other.task) for other in others} == {("better", "better")}


def test_without_a_second_pass_there_is_none_to_leave_out(two_tiers: ModelStore) -> None:
    tasks, small = tasks_of(two_tiers, ""), two_tiers.resolve("small")
    changes = [other.change for other in tasks.alternatives(small, tasks.as_configured(small))]
    assert "no second_pass.model" not in changes


def test_a_model_for_an_npu_stands_beside_the_one_that_it_was_made_from() -> None:
    starter = open_store().resolve("starter-en")
    file = msgspec.structs.replace(starter.manifest.files["model"], path="model.rknn")
    files = {**starter.manifest.files, "model": file}

    def called(name: str, **changes: object) -> InstalledModel:
        manifest = msgspec.structs.replace(starter.manifest, name=name, **changes)
        return dataclasses.replace(starter, manifest=manifest)

    compiled = called("mine-rk3588", files=files)
    others = [compiled, called("mine-fp32"), called("mine-int8"), called("mine-int8-rk3588", files=files)]
    found = original_of(compiled, others)
    assert found is not None
    assert found.manifest.name == "mine-int8"
    assert original_of(called("mine", files=files), others) is None
