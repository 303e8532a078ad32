"""``edge-asr``: the group of commands, and the one place where errors become exit codes.

A command's module is imported when the command is run, so that ``--help`` answers at once on a slow board.
"""

from __future__ import annotations

import importlib
import logging
import os
import select
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NoReturn

import click

from edge_asr import __version__
from edge_asr.cli import exit_codes
from edge_asr.cli.journal import is_journal
from edge_asr.cli.messages import complain
from edge_asr.cli.options import Invocation, common_options
from edge_asr.cli.repeated_logs import LineBudget, RepeatedRemarks


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One line of the table of commands."""

    target: str
    """``module:attribute`` of the click command."""
    summary: str
    """The line in ``edge-asr --help``; the command's own help begins with the same sentence."""


COMMANDS: Mapping[str, CommandEntry] = MappingProxyType(
    {
        "transcribe": CommandEntry("edge_asr.cli.transcribe:transcribe", "Turn recordings into text or subtitles."),
        "listen": CommandEntry("edge_asr.cli.listen:listen", "Write down what a microphone hears."),
        "serve": CommandEntry("edge_asr.cli.serve:serve", "Run the daemon."),
        "batch": CommandEntry("edge_asr.cli.batch:batch", "Turn thousands of recordings into text."),
        "client": CommandEntry("edge_asr.cli.client:client", "Send recordings to a running daemon."),
        "status": CommandEntry("edge_asr.cli.status:status", "Ask a running daemon how it is."),
        "bench": CommandEntry("edge_asr.cli.bench:bench", "Measure a model on this machine."),
        "selftest": CommandEntry("edge_asr.cli.selftest:selftest", "Say PASS or FAIL before a device is shipped."),
        "tune": CommandEntry("edge_asr.cli.tune:tune", "Find the cheapest setting that keeps up on this board."),
        "models": CommandEntry("edge_asr.cli.models:models", "List, fetch, check and switch models."),
        "speakers": CommandEntry("edge_asr.cli.speakers:speakers", "Enroll voices, so that finals name who spoke."),
        "quantize": CommandEntry(
            "edge_asr.cli.quantize:quantize", "Make a model smaller and faster within a word-error-rate budget."
        ),
        "plan": CommandEntry("edge_asr.cli.plan:plan", "Work out how many boards a load needs."),
        "doctor": CommandEntry("edge_asr.cli.doctor:doctor", "Find out what will go wrong on this machine."),
        "devices": CommandEntry("edge_asr.cli.devices:devices", "List the sound devices that record."),
        "setup": CommandEntry("edge_asr.cli.setup:setup", "Examine, tune and test this board, and start the service."),
        "bundle": CommandEntry("edge_asr.cli.bundle:bundle", "Pack everything for a board without a network."),
        "config": CommandEntry("edge_asr.cli.config:config", "Show, check or write the configuration."),
    }
)
"""Every command, in the order of ``--help``."""


class _ReaderGone(Exception):
    """Whoever read our standard output has closed it, as in ``edge-asr … | head``."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def invoke(self, context: click.Context) -> object:
        """Run the command; click would turn a closed pipe of any kind into exit code 1 without a word."""
        try:
            return super().invoke(context)
        except BrokenPipeError as error:
            if _is_reader_gone():
                raise _ReaderGone from error
            raise ConnectionAbortedError(str(error)) from error

    def list_commands(self, _context: click.Context) -> list[str]:
        """Names in the table's order."""
        return list(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Import the command of that name."""
        entry = COMMANDS.get(name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """The table, without importing a single command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@common_options
@click.version_option(__version__, "--version", prog_name="edge-asr", message="%(prog)s %(version)s")
def cli() -> None:
    """Dependable streaming speech recognition for small boards.

    Results go to standard output, everything else to standard error.

    \b
    Example:
      edge-asr transcribe meeting.wav
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and leave with its exit code; the console entry.

    Args:
        arguments: The words after the program's name; those of the process when omitted.
    """
    invocation = Invocation()
    _open_closed_streams()
    _log_to_stderr()
    try:
        status = _run(list(sys.argv[1:] if arguments is None else arguments), invocation)
        sys.stdout.flush()
    except (_ReaderGone, BrokenPipeError):
        # The reader has seen enough, which is no failure; Python must not complain about it while leaving.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = exit_codes.DONE
    sys.exit(status)


def _run(arguments: list[str], invocation: Invocation) -> int:
    try:
        status = cli.main(arguments, prog_name="edge-asr", standalone_mode=False, obj=invocation)
    except _ReaderGone:
        raise
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return exit_codes.USAGE
    except click.ClickException as error:
        complain(_usage_sentence(error))
        return exit_codes.USAGE
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        return exit_codes.INTERRUPTED
    except Exception as error:  # noqa: BLE001  the top of the program: every error becomes a line and an exit code
        return _report(error, invocation)
    return status if isinstance(status, int) else exit_codes.DONE


def _report(error: Exception, invocation: Invocation) -> int:
    """One line (or a few, where one error names several things), the traceback with ``-v``."""
    if invocation.verbosity:
        traceback.print_exception(error)
    status = exit_codes.exit_code_of(error)
    if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("edge_asr"):
        complain(f"the Python package {error.name!r} is not installed; install edge-asr again with its dependencies")
        return exit_codes.MACHINE
    if status == exit_codes.FAULT and not invocation.verbosity:
        complain(f"{_described(error)} (a fault of the program; -v shows where)")
    else:
        complain(_described(error))
    return status


def _described(error: Exception) -> str:
    text = str(error).strip()
    if exit_codes.exit_code_of(error) == exit_codes.FAULT:
        return f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text or type(error).__name__


def _usage_sentence(error: click.ClickException) -> str:
    sentence = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{sentence}; see `{context.command_path} --help`" if context is not None else sentence


def _is_reader_gone() -> bool:
    try:
        descriptor = sys.stdout.fileno()
    except ValueError:  # standard output was replaced by something that is no file
        return False
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def _open_closed_streams() -> None:
    """Let a stream that was closed before we began (``>&-``) lead nowhere, so that no file takes its number."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
            setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", closefd=False))


def _formatter() -> logging.Formatter:
    if not is_journal(os.environ, _descriptor_of_stderr()):
        return logging.Formatter("edge-asr: %(message)s")
    from edge_asr.workers.stderr_log import PrefixFormatter

    return PrefixFormatter("%(message)s")


def _descriptor_of_stderr() -> int:
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError):  # replaced by something that is no file
        return -1


def _log_to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_formatter())
    handler.addFilter(RepeatedRemarks(time.monotonic))
    handler.addFilter(LineBudget(time.monotonic))
    logger = logging.getLogger("edge_asr")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.WARNING)


if __name__ == "__main__":
    main()
