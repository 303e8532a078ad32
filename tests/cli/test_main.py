"""Errors become one line and an exit code; help is there at once."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import click
import pytest

from edge_asr import __version__, errors
from edge_asr.cli import main as main_module
from edge_asr.cli.exit_codes import exit_code_of
from edge_asr.cli.main import COMMANDS, CommandEntry


@pytest.fixture
def fail_with(run, monkeypatch):
    """Run a command that raises this."""

    def run_failing(error: BaseException, *arguments: str):
        @click.command()
        def failing() -> None:
            """Fail."""
            raise error

        monkeypatch.setattr(main_module, "_failing", failing, raising=False)
        monkeypatch.setattr(
            main_module, "COMMANDS", {"fail": CommandEntry(f"{main_module.__name__}:_failing", "Fail.")}
        )
        return run(*arguments, "fail")

    return run_failing


@pytest.mark.parametrize("group", ["config", "models"])
def test_no_line_of_a_groups_help_is_cut_off(run, group) -> None:
    assert "..." not in run(group, "--help").out.split("Commands:")[1]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.ConfigurationError("x"), 2),
        (errors.UnknownProvider("x", ["cpu"]), 2),
        (errors.AudioNotFound("x.wav"), 3),
        (errors.LimitExceeded("max_upload_s", "2 s", "1 s"), 3),
        (errors.ModelNotFound("x", "pull it"), 4),
        (errors.ModelTooNew("x", "opset 27"), 4),
        (errors.ProviderUnavailable("rknn", "no driver"), 5),
        (errors.AddressInUse("127.0.0.1:1"), 5),
        (errors.Overloaded("all 2 sessions are in use"), 5),
        (MemoryError(), 5),
        (OSError(errno.ENOSPC, "No space left on device"), 5),
        (errors.GateFailed("over budget"), 6),
        (errors.EngineFailed("x"), 1),
        (ZeroDivisionError("x"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_each_error_has_its_exit_code_and_one_line(fail_with, error, status) -> None:
    ran = fail_with(error)

    assert ran.status == status == exit_code_of(error)
    assert ran.out == ""
    assert len(ran.err.strip().splitlines()) == 1
    assert ran.err.strip().startswith("edge-asr: error: ")


def test_an_error_says_its_sentence(fail_with) -> None:
    assert fail_with(errors.AudioNotFound("x.wav")).err == "edge-asr: error: x.wav: no such audio file\n"


def test_a_fault_of_the_program_is_called_one(fail_with) -> None:
    assert fail_with(ZeroDivisionError("by zero")).err == (
        "edge-asr: error: ZeroDivisionError: by zero (a fault of the program; -v shows where)\n"
    )


def test_the_traceback_comes_with_v(fail_with) -> None:
    assert "Traceback (most recent call last)" in fail_with(ZeroDivisionError("x"), "-v").err


def test_a_missing_dependency_is_named(fail_with) -> None:
    ran = fail_with(ModuleNotFoundError("No module named 'soundfile'", name="soundfile"))

    assert ran.status == 5
    assert "the Python package 'soundfile' is not installed" in ran.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--nonsense"], "No such option"),
        (["nonsense"], "No such command 'nonsense'"),
        (["transcribe"], "Missing argument 'FILE...'; see `edge-asr transcribe --help`"),
    ],
)
def test_wrong_words_exit_2_with_one_line(run, arguments, sentence) -> None:
    ran = run(*arguments)

    assert ran.status == 2
    assert ran.err.startswith("edge-asr: error: ")
    assert sentence in ran.err
    assert len(ran.err.splitlines()) == 1


def test_no_words_at_all_show_the_help(run) -> None:
    ran = run()

    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("Usage: edge-asr")


def test_the_version(run) -> None:
    assert run("--version").out == f"edge-asr {__version__}\n"


def test_help_lists_every_command_in_the_table_s_order(run) -> None:
    listed = [line.split()[0] for line in run("--help").out.partition("Commands:\n")[2].splitlines()]

    assert listed == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_s_help_begins_with_its_summary_and_has_an_example(run, name) -> None:
    ran = run(name, "--help")

    assert ran.status == 0
    assert COMMANDS[name].summary in ran.out
    assert "Example:\n" in ran.out


def test_the_configuration_file_may_be_named_before_or_behind_the_command(run, tmp_path) -> None:
    (tmp_path / "c.toml").write_text("model = 'x'")

    before = run("--config", tmp_path / "c.toml", "config", "show").out
    behind = run("config", "show", "--config", tmp_path / "c.toml").out

    assert before == behind
    assert before.startswith('model = "x"\n')


def test_help_loads_nothing_heavy() -> None:
    script = "import sys, edge_asr.cli.main as m\ntry: m.main(['--help'])\nexcept SystemExit: print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    loaded = {name.split(".")[0] for name in ran.stdout.splitlines()[-1].split()}
    assert not loaded & {"numpy", "sherpa_onnx", "onnxruntime", "soundfile", "soxr", "sounddevice", "rich", "jiwer"}


def test_a_lost_connection_is_not_taken_for_a_reader_that_has_seen_enough(fail_with) -> None:
    assert fail_with(BrokenPipeError(32, "Broken pipe")).status == 1


def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as closed_pipe:
        ran = subprocess.run(
            [sys.executable, "-m", "edge_asr", "config", "init"], stdout=closed_pipe, stderr=subprocess.PIPE, text=True
        )

    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_leads_nowhere(closed) -> None:
    ran = subprocess.run(
        f"{sys.executable} -m edge_asr config show {closed}", shell=True, capture_output=True, text=True
    )

    assert (ran.returncode, ran.stderr) == (0, "")
