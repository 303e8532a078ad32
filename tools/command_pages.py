"""The command line written down from click's own commands: a page of the documentation, and man pages.

python -m tools.command_pages DIR       # man pages, one for edge-asr and one for each command
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from edge_asr import __version__
from edge_asr.cli.main import cli

EXIT_CODES = (
    ("0", "Done."),
    ("1", "A fault of the program; -v shows where."),
    ("2", "The command line or the configuration is wrong."),
    ("3", "Some input could not be used; the rest was done."),
    ("4", "The model is missing, damaged, of the wrong family, or too new."),
    ("5", "This machine cannot do it (now)."),
    ("6", "A gate said no, or the run was invalid."),
    ("130", "Interrupted."),
)

FILES = (
    (
        "/etc/edge-asr/edge-asr.toml",
        "Settings of this machine; `edge-asr config init` explains each.",
    ),
    ("~/.config/edge-asr/edge-asr.toml", "Settings of the user, which win over those."),
    ("/var/lib/edge-asr", "Models, and what `edge-asr tune` found out about this board."),
)

VARIABLES = (
    ("EDGE_ASR_HOME", "Where models are kept instead."),
    (
        "EDGE_ASR_GROUP_NAME",
        "Any setting: EDGE_ASR_SERVER_PORT for port of [server].",
    ),
)

_WIDTH = 100


def commands() -> Iterator[click.Context]:
    """The program and every command and subcommand of it, in the order of the help."""
    yield from _commands(click.Context(cli, info_name="edge-asr"))


def command_reference() -> str:
    """Every command with its help, as Markdown."""
    return "\n\n".join(f"### {context.command_path}\n\n```text\n{_help(context)}\n```" for context in commands())


def man_page(context: click.Context) -> str:
    """The man page of a command, in roff; the program's own has files and variables too."""
    command = context.command
    name = context.command_path.replace(" ", "-")
    sections = [
        f'.TH {_roff(name.upper())} 1 "" "edge-asr {__version__}" "User Commands"',
        f".SH NAME\n{name} \\- {_roff(_summary(command))}",  # a plain hyphen: whatis reads this line
        f".SH SYNOPSIS\n.B {_roff(context.command_path)}\n{_roff(' '.join(command.collect_usage_pieces(context)))}",
        ".SH DESCRIPTION\n" + "\n.PP\n".join(_paragraph(text) for text in _paragraphs(command)),
    ]
    if options := list(_options(context)):
        sections.append(".SH OPTIONS\n" + "\n".join(options))
    if isinstance(command, click.Group):
        sections.append(".SH COMMANDS\n" + "\n".join(_subcommands(command, context)))
    if context.parent is None:
        sections += [_list("FILES", FILES), _list("ENVIRONMENT", VARIABLES)]
    sections.append(_list("EXIT STATUS", EXIT_CODES))
    if context.parent is not None:
        sections.append(f".SH SEE ALSO\n.BR {_roff(context.parent.command_path.replace(' ', '-'))} (1)")
    return "\n".join(sections) + "\n"


def _commands(context: click.Context) -> Iterator[click.Context]:
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            if command is not None and not command.hidden:
                yield from _commands(click.Context(command, info_name=name, parent=context))


def _help(context: click.Context) -> str:
    context.max_content_width = context.terminal_width = _WIDTH
    return context.command.get_help(context).rstrip()


def _summary(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "").splitlines()[0].rstrip(".")


def _paragraphs(command: click.Command) -> list[str]:
    return [paragraph for paragraph in inspect.cleandoc(command.help or "").split("\n\n") if paragraph]


def _paragraph(text: str) -> str:
    if text.startswith("\b"):  # click's mark of lines that are left as they are
        return f".nf\n{_roff(text[1:].strip(chr(10)))}\n.fi"
    return _roff(" ".join(text.split()))


def _options(context: click.Context) -> Iterator[str]:
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            yield f".TP\n.B {_roff(record[0])}\n{_roff(record[1])}"


def _subcommands(command: click.Group, context: click.Context) -> Iterator[str]:
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        if found is not None and not found.hidden:
            page = f"{context.command_path} {name}".replace(" ", "-")
            yield f".TP\n.BR {_roff(page)} (1)\n{_roff(_summary(found))}."


def _list(title: str, entries: Sequence[tuple[str, str]]) -> str:
    return "\n".join((f".SH {title}", *(f".TP\n.B {_roff(term)}\n{_roff(meaning)}" for term, meaning in entries)))


def _roff(text: str) -> str:
    """Escaped: backslashes, hyphens that people copy, and lines that begin like a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("|", "|\\:")  # a long choice may be broken
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in escaped.splitlines())


def write_man_pages(folder: Path) -> None:
    """A man page for edge-asr and one for each command, into a folder that is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for context in commands():
        page = folder / f"{context.command_path.replace(' ', '-')}.1"
        page.write_text(man_page(context), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    write_man_pages(Path(sys.argv[1]))
