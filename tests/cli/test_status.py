"""``edge-asr status``."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from edge_asr.cli.status_report import render
from edge_asr.listening.messages import MicrophoneState
from edge_asr.servers.status import Door, Machine, status_document
from edge_asr.workers.base import WorkerStatus
from tests.cli.conftest import Run
from tests.support.background import in_background
from tests.support.doors import http_door
from tests.support.recognizer import ScriptedRecognizer
from tests.support.values import READY, SERVING, STARTING, STATS

DOOR = Door("http", "http://127.0.0.1:8765", "this machine only")


def test_a_serving_daemon_is_described_line_by_line() -> None:
    machine = Machine(front_rss_bytes=40 << 20, temperature_c=51.2)
    document = status_document(SERVING, (DOOR,), machine, version="1.2.3", uptime_s=3723)
    assert render(document) == (
        "state             ready (edge-asr 1.2.3, up 1 h 2 min)\n"
        "model             starter-en (zipformer2-ctc; en)\n"
        "provider          cpu, 1 thread\n"
        "sessions          1 of 16\n"
        "real-time factor  0.200\n"
        "decoded           1 min 40 s of audio\n"
        "memory            worker 90 MiB, front 40 MiB\n"
        "temperature       51 °C\n"
        "restarts          0\n"
        "http door         http://127.0.0.1:8765, this machine only\n"
    )


def test_second_passes_are_counted_by_what_became_of_them() -> None:
    passes = {"done": 118, "late": 3, "too_long": 2}
    serving = msgspec.structs.replace(
        SERVING,
        ready=msgspec.structs.replace(READY, second_pass="moonshine-tiny-en"),
        stats=msgspec.structs.replace(STATS, second_passes=passes),
    )
    document = status_document(serving, (DOOR,), Machine(1 << 20, None), version="1.2.3", uptime_s=0)
    assert document["stats"]["second_passes"] == passes
    assert "second pass       moonshine-tiny-en, finals: 118; the first model's: 3 late, 2 too long for it\n" in render(
        document
    )


def test_a_second_pass_that_has_heard_nothing_is_named() -> None:
    idle = msgspec.structs.replace(
        SERVING, ready=msgspec.structs.replace(READY, second_pass="moonshine-tiny-en"), stats=None
    )
    text = render(status_document(idle, (DOOR,), Machine(1 << 20, None), version="1.2.3", uptime_s=0))
    assert "second pass       moonshine-tiny-en, finals: 0\n" in text


def test_a_starting_daemon_says_what_it_waits_for() -> None:
    text = render(status_document(STARTING, (DOOR,), Machine(1 << 20, None), version="1.2.3", uptime_s=0))
    assert "state             starting: the model is being loaded (edge-asr 1.2.3, up 0 s)\n" in text
    assert "model             none loaded\n" in text
    assert "temperature       no sensor\n" in text


def test_json_is_the_daemons_document(run: Run) -> None:
    with in_background(lambda: http_door(ScriptedRecognizer())) as base:
        assert json.loads(run("status", base, "--json").out) == {"state": "ready"}


def test_without_a_url_it_is_the_daemon_of_this_machines_configuration(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with in_background(lambda: http_door(ScriptedRecognizer())) as base:
        monkeypatch.setenv("EDGE_ASR_SERVER_PORT", base.rpartition(":")[2])
        assert json.loads(run("status", "--json").out) == {"state": "ready"}


def test_a_wrong_token_is_said(run: Run, tmp_path: Path) -> None:
    for name in ("right", "wrong"):
        (tmp_path / name).write_text(name * 8)
        (tmp_path / name).chmod(0o600)
    with in_background(lambda: http_door(ScriptedRecognizer(), token_file=str(tmp_path / "right"))) as base:
        assert run("status", base, "--token-file", tmp_path / "right", "--json").status == 0
        refused = run("status", base, "--token-file", tmp_path / "wrong")
        assert refused.status == 2
        assert "does not accept this token" in refused.err


def test_something_else_at_the_address_is_no_daemon(run: Run) -> None:
    with in_background(lambda: http_door(ScriptedRecognizer())) as base:
        ran = run("status", f"{base}/v1/models")
    assert ran.status == 5
    assert "is no edge-asr daemon" in ran.err


@pytest.mark.parametrize("url", ["tcp://x:1", "localhost", "http://"])
def test_an_address_that_is_none_exits_2(run: Run, url: str) -> None:
    assert run("status", url).status == 2


def test_the_microphone_stands_among_the_figures() -> None:
    lost = MicrophoneState("lost", "USB microphone", "the microphone is lost: the device is gone")
    document = status_document(SERVING, (DOOR,), Machine(0, None), version="1", uptime_s=0, microphone=lost)
    assert "microphone        USB microphone: the microphone is lost: the device is gone\n" in render(document)


def test_each_worker_is_described_with_what_bounds_it() -> None:
    worker = WorkerStatus(
        name="1",
        state="ready",
        reason="",
        pid=7,
        restarts=0,
        sessions=3,
        stats=None,
        model="starter-en",
        role="twin",
        cpus=(4, 5),
        escaped_threads=2,
        memory_bytes=88 << 20,
        memory_limit_bytes=216 << 20,
        busy=0.126,
        capacity_streams=28.8,
        needed_streams=3.0,
    )
    status = msgspec.structs.replace(SERVING, workers=(worker,))
    document = status_document(status, (DOOR,), Machine(1 << 20, None), version="1.2.3", uptime_s=0)
    assert (
        "worker 1          starter-en (twin, ready); 3 sessions need 3.0 of 28.8 streams; 13% busy; 88 MiB of 216 MiB; "
        "cores 4, 5; 2 THREADS OUTSIDE THEM\n"
    ) in render(document)
