"""``edge-asr config``: show what is in force and why, check a file, write one to begin with."""

from __future__ import annotations

import json
from pathlib import Path

import click

from edge_asr.cli.configuration import DEFAULT_ORIGIN, merge, read_layer
from edge_asr.cli.messages import warn
from edge_asr.cli.options import Invocation, common_options, json_option, pass_invocation
from edge_asr.cli.settings_reference import current_document, current_values, default_document
from edge_asr.errors import ConfigurationError


@click.group()
@common_options
def config() -> None:
    """Show, check or write the configuration.

    \b
    Example:
      edge-asr config show --origin
    """


@config.command()
@click.option(
    "--origin", "with_origin", is_flag=True, help="Say for each value which file, variable or default set it."
)
@json_option
@common_options
@pass_invocation
def show(invocation: Invocation, with_origin: bool, as_json: bool) -> None:
    """Print every setting in force.

    Tokens stand in files; only the names of those files are shown.

    \b
    Example:
      EDGE_ASR_ENGINE_THREADS=2 edge-asr config show --origin
    """
    configuration = invocation.configuration()
    if as_json:
        click.echo(json.dumps(current_values(configuration, with_origin=with_origin), indent=2, ensure_ascii=False))
    else:
        click.echo(current_document(configuration, with_origin=with_origin), nl=False)


@config.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@common_options
@pass_invocation
def check(invocation: Invocation, file: Path | None) -> None:
    """Say what is wrong with a configuration file.

    Without FILE, what `edge-asr serve` would read here: the files, and EDGE_ASR_* of the environment. Models that it
    names must then be installed; of FILE, which may be for another machine, missing ones are only named.

    \b
    Example:
      edge-asr config check /etc/edge-asr/edge-asr.toml
      edge-asr config check
    """
    from edge_asr.cli.stores import open_store, unusable_models

    if file is None:
        configuration = invocation.configuration()
        for _, problem in unusable_models(open_store(), configuration.settings):
            raise problem
        origins = [origin for origin in configuration.origins.values() if origin != DEFAULT_ORIGIN]
        places = ", ".join(dict.fromkeys(origins))
        what = f"{_counted(len(origins))} from {places}" if origins else "every setting has its default"
        click.echo(f"the configuration is right: {what}")
        return
    layer = read_layer(file)
    for key, problem in unusable_models(open_store(), merge([layer]).settings):
        if key in layer.values:
            warn(f"{file}: {key}: on this machine {problem}")
    click.echo(f"{file} is right: {_counted(len(layer.values))}")


@config.command()
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write here; an existing file is kept."
)
@common_options
def init(output: Path | None) -> None:
    """Write a file that explains every setting.

    Every setting stands there with its default, and nothing is changed. Nothing is asked: what could be found out about
    this machine stands at its head, the words that choose each microphone among it.

    \b
    Example:
      edge-asr config init -o edge-asr.toml
    """
    from edge_asr.cli.machine_notes import machine_notes

    document = machine_notes() + default_document()
    if output is None:
        click.echo(document, nl=False)
        return
    write_new(output, document)


def write_new(path: Path, document: str) -> None:
    """Write a configuration file where there is none.

    Raises:
        ConfigurationError: There is one, or none can be written there.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(document)
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {error.strerror}; name another file") from error
    click.echo(f"{path} written", err=True)


def _counted(settings: int) -> str:
    return f"{settings} setting{'' if settings == 1 else 's'}"
