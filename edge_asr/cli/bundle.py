"""``edge-asr bundle``: everything for a board without a network, in one file."""

from __future__ import annotations

from pathlib import Path

import click

from edge_asr.cli.options import Invocation, common_options, pass_invocation


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    required=True,
    help="Archive to write; .tar, or .tar.gz.",
)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Model to take along; may be given several times; the first becomes the board's active one.",
)
@click.option(
    "--machine",
    type=click.Choice(["aarch64", "x86_64"]),
    default="aarch64",
    show_default=True,
    help="Of the board, as `uname -m` says it.",
)
@click.option(
    "--debian",
    "releases",
    type=click.Choice(["bookworm", "trixie"]),
    multiple=True,
    help="Release on the board, also of Raspberry Pi OS; may be given several times; all of them when omitted.",
)
@click.option(
    "--extra",
    "extras",
    multiple=True,
    metavar="NAME",
    help="Optional part of edge-asr, such as mqtt; may be given several times.",
)
@click.option(
    "--wheel",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="edge-asr's own wheel, instead of that of this installation.",
)
@common_options
@pass_invocation
def bundle(
    invocation: Invocation,
    output: Path,
    models: tuple[str, ...],
    machine: str,
    releases: tuple[str, ...],
    extras: tuple[str, ...],
    wheel: Path | None,
) -> None:
    """Pack everything for a board without a network.

    Wheels, models and configuration go into one archive; make it where there is a network. Without -m the model that is
    active here goes along, and silero-vad always, where it is installed. The file of --config becomes the board's
    configuration. On the board: unpack, and run install.

    \b
    Example:
      edge-asr bundle -o board.tar -m moonshine-tiny-en --config board.toml
      tar xf board.tar && sudo edge-asr-bundle/install
    """
    from edge_asr.cli.bundle_job import Wish, run_job

    run_job(Wish(output, models, machine, releases, extras, wheel, invocation.config_file))
