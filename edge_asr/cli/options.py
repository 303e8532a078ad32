"""What several commands share: options, and the state of one invocation."""

from __future__ import annotations

import logging
import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from edge_asr.cli.configuration import Configuration, Layer, load
from edge_asr.errors import ConfigurationError
from edge_asr.settings import ServerSettings
from edge_asr.store.locations import store_locations

PROFILE_FILE = "board-profile.toml"
"""What ``tune`` writes into the store."""

DEFAULT_MAX_WER = 0.25
"""On the bundled recordings: a model that understands less of them should not become the active one unasked."""


class FiniteRange(click.FloatRange):
    """A range of real numbers; ``nan`` is in none, though it is neither below nor above it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """The number, or a usage error."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(slots=True)
class Invocation:
    """What was said before, or beside, the command's own options."""

    config_file: Path | None = None
    verbosity: int = 0
    """How many ``-v`` there were."""
    named: dict[str, tuple[str, object]] = field(default_factory=dict)
    """Settings that were given as :func:`setting_option`: key path to the option's name and its value."""

    def configuration(
        self, options: Mapping[str, tuple[str, object]] | None = None, *, with_profile: bool = True
    ) -> Configuration:
        """The merged configuration.

        Args:
            options: What counts besides :attr:`named`, and more than it; those whose value is ``None`` were not given.
            with_profile: Whether what ``tune`` found out for this board counts.
        """
        given = {path: entry for path, entry in (options or {}).items() if entry[1] is not None}
        return load(os.environ, self.config_file, {**self.named, **given}, _tuned if with_profile else None)

    def server_settings(self) -> ServerSettings:
        """Where the daemon of this machine is configured to listen."""
        return self.configuration(with_profile=False).settings.server


def _tuned(model: str) -> Layer:
    """What was tuned for this board and the model, from the store of this environment; mostly there is nothing."""
    roots = store_locations(os.environ).roots
    if not any((root / PROFILE_FILE).is_file() for root in roots if _is_open(root)):
        return Layer({}, {})
    from edge_asr.cli.board_profile import board_digest, find_profile, profile_layer
    from edge_asr.cli.stores import active_name, open_store
    from edge_asr.resources.board import read_board

    return profile_layer(find_profile(roots), model or active_name(open_store()), board_digest(read_board()))


def _is_open(root: Path) -> bool:
    return os.access(root, os.R_OK | os.X_OK)


pass_invocation = click.make_pass_decorator(Invocation, ensure=True)
"""Gives a command its :class:`Invocation` as first argument."""


def _count_verbose(context: click.Context, _parameter: click.Parameter, count: int) -> None:
    invocation = context.ensure_object(Invocation)
    invocation.verbosity += count
    level = {0: logging.WARNING, 1: logging.INFO}.get(invocation.verbosity, logging.DEBUG)
    logging.getLogger("edge_asr").setLevel(level)


def _take_config(context: click.Context, _parameter: click.Parameter, path: Path | None) -> None:
    if path is not None:
        context.ensure_object(Invocation).config_file = path


def common_options(command: Command) -> Command:
    """``-v`` and ``--config``, which may stand before the command's name or behind it."""
    verbose = click.option(
        "-v",
        "--verbose",
        count=True,
        expose_value=False,
        callback=_count_verbose,
        help="Say more on standard error; with a traceback when something fails. Twice for everything.",
    )
    config = click.option(
        "--config",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        expose_value=False,
        callback=_take_config,
        help="Read this configuration file instead of the system's and the user's.",
    )
    return verbose(config(command))


def setting_option(path: str, *names: str, **how: Any) -> Callable[[Command], Command]:  # noqa: ANN401  click's own
    """An option that is a setting: it goes into the configuration by itself, and the command need not know of it.

    Args:
        path: Of the setting, such as ``engine.provider``.
        names: Of the option; the first one is named as the origin of the value.
        how: What :func:`click.option` takes besides.
    """
    shown = names[0].partition("/")[0]

    def take(context: click.Context, _parameter: click.Parameter, value: object) -> None:
        if value not in (None, ()):
            context.ensure_object(Invocation).named[path] = (shown, value)

    return click.option(*names, default=None, expose_value=False, callback=take, **how)


model_option = setting_option("model", "-m", "--model", metavar="MODEL", help="Store name, or directory of a model.")

provider_option = setting_option(
    "engine.provider", "--provider", metavar="PROVIDER", help="Execution provider, such as cpu."
)

commands_option = setting_option(
    "commands.file",
    "--commands",
    metavar="FILE",
    help="Listen for spoken commands: sentence templates in Home Assistant's format, or a folder of them.",
)

hotwords_option = setting_option(
    "engine.hotwords_file",
    "--hotwords",
    metavar="FILE",
    help="Words and phrases to expect, one a line; for transducers and Moonshine.",
)

second_pass_option = setting_option(
    "second_pass.model",
    "--second-pass",
    metavar="MODEL",
    help="Non-streaming model that hears each segment again, for its final, behind a streaming one.",
)

PUNCTUATION = ("--punctuation/--no-punctuation", "Capitals and punctuation where the model writes none.")
ITN = ("--itn/--no-itn", "Numbers, dates, money and times in figures.")
"""How finals are written, for settings and for the sessions of a client: option and help."""


def text_options(command: Command) -> Command:
    """``--itn`` and ``--punctuation``, and their contraries."""
    for path, (name, says) in (("text.punctuation", PUNCTUATION), ("text.itn", ITN)):
        command = setting_option(path, name, help=says)(command)
    return command


def require_folder(path: Path | None) -> None:
    """Refuse a file to be written, before minutes of work, when there is no folder for it.

    Raises:
        ConfigurationError: With the path.
    """
    if path is not None and not is_printed(path) and not path.absolute().parent.is_dir():
        raise ConfigurationError(f"{path}: there is no such folder to write to")


def is_printed(path: Path | None) -> bool:
    """Whether a file that an option names is standard output, which nothing else may then be written to."""
    return str(path) == "-"


def write_named(path: Path, content: bytes) -> None:
    """Write what an option has named a file for; ``-`` is standard output."""
    if is_printed(path):
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        path.write_bytes(content)


def json_option(command: Command) -> Command:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")(command)
