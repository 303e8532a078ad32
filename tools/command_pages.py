"""The command line written down from click's own commands: a page of the documentation, and man pages.

python -m tools.command_pages DIR       # man pages, one for edge-asr and one for each command
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
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

_WIDTH = 100


def commands() -> Iterator[click.Context]:
    """The program and every command and subcommand of it, in the order of the help."""
    yield from _commands(click.Context(cli, info_name="edge-asr"))


def command_reference() -> str:
    """Every command with its help, as Markdown."""
    return "\n\n".join(f"### {context.command_path}\n\n```text\n{_help(context)}\n```" for context in commands())


def man_page(context: click.Context) -> str:
    """The man page of a command, in roff."""
    command = context.command
    name = context.command_path.replace(" ", "-")
    sections = [
        f'.TH {_roff(name.upper())} 1 "" "edge-asr {__version__}" "User Commands"',
        f".SH NAME\n{_roff(name)} \\- {_roff(_summary(command))}",
        f".SH SYNOPSIS\n.B {_roff(context.command_path)}\n{_roff(' '.join(command.collect_usage_pieces(context)))}",
        ".SH DESCRIPTION\n" + "\n.PP\n".join(_paragraph(text) for text in _paragraphs(command)),
    ]
    if options := list(_options(context)):
        sections.append(".SH OPTIONS\n" + "\n".join(options))
    if isinstance(command, click.Group):
        sections.append(".SH COMMANDS\n" + "\n".join(_subcommands(command, context)))
    codes = "\n".join(f".TP\n.B {code}\n{_roff(meaning)}" for code, meaning in EXIT_CODES)
    sections.append(f".SH EXIT STATUS\n{codes}")
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


def _roff(text: str) -> str:
    """Escaped: backslashes, hyphens that people copy, and lines that begin like a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("|", "|\\:")  # a long choice may be broken
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in escaped.splitlines())


def main() -> None:
    """Write the man pages into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for context in commands():
        page = folder / f"{context.command_path.replace(' ', '-')}.1"
        page.write_text(man_page(context), encoding="utf-8")


if __name__ == "__main__":
    main()
