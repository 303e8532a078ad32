"""``edge-asr doctor``."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from edge_asr import __version__
from edge_asr.cli.doctor_report import document, render
from edge_asr.diagnosis.finding import Finding
from edge_asr.resources.board import read_board
from tests.boards import raspberry_pi_5, virtual_machine, x86_server
from tests.cli.conftest import Run

WELL = Finding("ok", "disk", "75 MiB are free")
WARNING = Finding("warning", "hot", "it is hot", "it slows down", "cool it")
ERROR = Finding("error", "port_taken", "nginx listens", "no daemon", "stop it")


def test_the_board_is_described_in_a_few_lines(tmp_path) -> None:
    lines = render(read_board(raspberry_pi_5(tmp_path)), ()).splitlines()
    assert lines[:4] == [
        "machine   Raspberry Pi 5 Model B Rev 1.0",
        "cores     4 × Cortex-A76, up to 2.40 GHz",
        "memory    8062 MiB, pages of 16 KiB",
        "system    Linux 6.6.31+rpt-rpi-2712 aarch64, 64-bit programs",
    ]


def test_threads_of_a_core_are_not_counted_as_cores(tmp_path) -> None:
    text = render(read_board(x86_server(tmp_path)), ())
    assert "cores     4 × Intel(R) Xeon(R) Gold 6226R CPU @ 2.90GHz with 8 threads, up to 3.90 GHz\n" in text


def test_a_machine_that_says_little_is_described_all_the_same(tmp_path) -> None:
    assert render(read_board(virtual_machine(tmp_path)), ()).startswith("machine   unnamed\ncores     2 × unknown\n")


def test_the_gravest_finding_comes_first_with_what_to_do(tmp_path) -> None:
    text = render(read_board(tmp_path), (WELL, WARNING, ERROR))
    assert text.endswith(
        "error     nginx listens\n          why: no daemon\n          do:  stop it\n"
        "warning   it is hot\n          why: it slows down\n          do:  cool it\n"
        "ok        75 MiB are free\n"
    )


@pytest.mark.parametrize(("findings", "worst"), [((), "ok"), ((WELL, WARNING), "warning"), ((WARNING, ERROR), "error")])
def test_the_document_names_the_worst(findings, worst, tmp_path) -> None:
    assert document(read_board(tmp_path), findings)["worst"] == worst


def test_the_document_holds_board_and_findings(tmp_path) -> None:
    written = json.loads(json.dumps(document(read_board(raspberry_pi_5(tmp_path)), (WELL, ERROR))))
    assert written["version"] == __version__
    assert written["board"]["model"] == "Raspberry Pi 5 Model B Rev 1.0"
    assert written["findings"] == [
        {"level": "error", "code": "port_taken", "what": "nginx listens", "why": "no daemon", "advice": "stop it"},
        {"level": "ok", "code": "disk", "what": "75 MiB are free", "why": "", "advice": ""},
    ]


@pytest.mark.model
def test_this_machine_is_examined_and_a_taken_port_exits_5(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("EDGE_ASR_SERVER_PORT", str(taken.getsockname()[1]))
        ran = run("doctor", "--json")
    findings = json.loads(ran.out)["findings"]
    assert ran.status == 5
    assert [finding["code"] for finding in findings if finding["level"] == "error"] == ["port_taken"]
    assert {"engine", "model_loads", "providers", "models"} <= {finding["code"] for finding in findings}


def test_an_active_model_that_is_gone_is_an_error_and_not_the_end(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGE_ASR_MODEL", "gone")
    ran = run("doctor")
    assert ran.status == 5
    assert "error     model 'gone' is not installed" in ran.out


def test_a_damaged_model_that_would_be_served_is_said_once(run: Run, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "models/mine").mkdir(parents=True)
    (tmp_path / "models/mine/manifest.toml").write_text("name = ")
    monkeypatch.setenv("EDGE_ASR_HOME", str(tmp_path))
    monkeypatch.setenv("EDGE_ASR_MODEL", "mine")
    ran = run("doctor")
    assert ran.status == 5
    assert ran.out.count("error     ") == 1
    assert "edge-asr models verify mine" in ran.out


def test_a_wrong_configuration_exits_2(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGE_ASR_ENGINE_THREADS", "many")
    assert run("doctor").status == 2
