"""``edge-asr setup``: the steps, their order, and the service meanwhile."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from edge_asr.cli import options, setup_job
from edge_asr.cli.configuration import Layer
from edge_asr.deployment.service import Service
from edge_asr.errors import MachineError


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What was done, in order: every step says yes, and systemd runs a daemon already."""
    steps: list[str] = []

    def step(name: str):
        def take(*_: object) -> int:
            steps.append(name)
            return 0

        return take

    for name in ("_examine", "_tune", "_test", "_activate"):
        monkeypatch.setattr(setup_job, name, step(name.removeprefix("_")))
    (tmp_path / "run/systemd/system").mkdir(parents=True)

    def tell(words: Sequence[str]) -> int:
        steps.append(f"systemctl {words[-2] if words[-1].endswith('.service') else words[-1]}")
        return 0

    def service(config_file: Path | None, *, is_of_the_user: bool) -> Service:
        assert config_file is None
        return Service(["/opt/edge-asr/bin/edge-asr"], Path("/units"), is_of_the_user, tmp_path, tell)

    monkeypatch.setattr(setup_job, "service_here", service)
    monkeypatch.setattr(setup_job, "hidden_by", lambda _: None)  # a checkout may lie anywhere
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(setup_job, "SYSTEM_FILE", tmp_path / "etc/edge-asr.toml")
    return steps


def test_the_board_is_measured_without_the_daemon_and_served_after(run, done: list[str], tmp_path: Path) -> None:
    assert run("setup").status == 0
    assert done == [
        *("systemctl is-active", "systemctl stop"),
        *("examine", "tune", "test"),
        "systemctl start",
        *("systemctl daemon-reload", "systemctl enable", "systemctl restart"),
    ]
    assert (tmp_path / "units/edge-asr.service").is_file()


def test_it_leaves_a_configuration_to_read(run, done: list[str], tmp_path: Path) -> None:
    run("setup", "--no-service")
    assert (tmp_path / "etc/edge-asr.toml").read_text().startswith("# This machine, when the file was written:\n")


def test_a_model_becomes_the_active_one_only_when_it_has_passed(run, done: list[str], monkeypatch) -> None:
    assert run("setup", "starter-en", "--no-service").status == 0
    assert done == ["examine", "tune", "test", "activate"]
    done.clear()
    monkeypatch.setattr(setup_job, "_test", lambda *_: 6)
    assert run("setup", "starter-en", "--no-service").status == 6
    assert done == ["examine", "tune"]


def test_a_step_that_says_no_is_the_end_and_the_daemon_runs_again(run, done: list[str], monkeypatch) -> None:
    monkeypatch.setattr(setup_job, "_tune", lambda *_: 6)
    ran = run("setup")
    assert ran.status == 6
    assert "setup: tune said no, and nothing after it was done; run this again at rest, or with --no-tune" in ran.err
    assert done == ["systemctl is-active", "systemctl stop", "examine", "systemctl start"]


@pytest.mark.parametrize(("words", "when"), [((), "will at every boot"), (("--user",), "will whenever you log in (at")])
def test_it_says_when_the_service_starts_again(run, done: list[str], words: tuple[str, ...], when: str) -> None:
    ran = run("setup", "--no-tune", "--no-selftest", *words)
    assert f"the service runs, and {when}" in ran.err
    assert "its page: http://127.0.0.1:8765" in ran.err


def test_a_board_that_is_never_at_rest_is_served_untested(run, done: list[str]) -> None:
    assert run("setup", "--no-tune", "--no-selftest").status == 0
    assert [step for step in done if not step.startswith("systemctl")] == ["examine"]
    assert done[-1] == "systemctl restart"


def test_a_step_that_fails_leaves_the_daemon_running(run, done: list[str], monkeypatch) -> None:
    def fail(*_: object) -> int:
        raise MachineError("the fan fell off")

    monkeypatch.setattr(setup_job, "_test", fail)
    assert run("setup", "--no-tune").status == 5
    assert done[-1] == "systemctl start"


def test_a_service_of_the_machine_is_root_s(run, done: list[str], monkeypatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    refused = run("setup")
    assert refused.status == 5
    assert "sudo" in refused.err
    assert done == []


def test_a_model_that_is_not_here_is_said_before_anything_is_done(run, done: list[str]) -> None:
    refused = run("setup", "nonesuch")
    assert refused.status == 4
    assert "model 'nonesuch' is not installed" in refused.err
    assert done == []


def test_a_model_is_tested_with_what_was_tuned_for_it(run, done: list[str], monkeypatch) -> None:
    tested: list[int] = []

    def tuned(model: str) -> Layer:
        return Layer({"engine.threads": 3}, {"engine.threads": "tuned"}) if model == "starter-en" else Layer({}, {})

    def test(invocation: options.Invocation, wish: setup_job.Wish) -> int:
        tested.append(setup_job._settings(invocation, wish).engine.threads)
        return 0

    monkeypatch.setattr(options, "_tuned", tuned)
    monkeypatch.setattr(setup_job, "_test", test)
    assert run("setup", "starter-en", "--no-service").status == 0
    assert tested == [3]


def test_a_store_of_its_own_is_the_user_s(run, done: list[str], monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EDGE_ASR_HOME", str(tmp_path / "store"))
    refused = run("setup")
    assert refused.status == 2
    assert f"keeps its models in /var/lib/edge-asr, and EDGE_ASR_HOME is {tmp_path}/store" in refused.err
    assert done == []


def test_the_service_has_the_configuration_and_the_user_s_the_store_of_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EDGE_ASR_HOME", str(tmp_path / "store"))
    monkeypatch.setattr(setup_job, "program", lambda: ["edge-asr"])
    service = setup_job.service_here(tmp_path / "c.toml", is_of_the_user=True)
    assert service.command == ["edge-asr", "serve", "--config", f"{tmp_path}/c.toml"]
    assert service.environment == {"EDGE_ASR_HOME": f"{tmp_path}/store"}
    assert setup_job.service_here(None, is_of_the_user=False).environment == {}


def test_a_service_can_read_its_configuration_whatever_root_s_umask_is(run, done: list[str], tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        run("setup", "--no-service")
    finally:
        os.umask(before)
    file = tmp_path / "etc/edge-asr.toml"
    assert [path.stat().st_mode & 0o777 for path in (file, file.parent)] == [0o644, 0o755]


def test_a_model_in_a_home_is_not_left_to_a_service_that_cannot_see_it(run, done: list[str], monkeypatch) -> None:
    monkeypatch.setattr(setup_job, "hidden_by", lambda _: Path("/home"))
    refused = run("setup")
    assert refused.status == 2
    assert "the service may not look into /home, where model 'starter-en' is" in refused.err
    assert "systemctl enable" not in done
