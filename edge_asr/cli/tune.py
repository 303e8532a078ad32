"""``edge-asr tune``: the cheapest setting that keeps up on this board."""

from __future__ import annotations

from pathlib import Path

import click

from edge_asr.cli.options import Invocation, common_options, pass_invocation


@click.command()
@click.argument("model", required=False)
@click.option("--streams", type=click.IntRange(1, 1000), default=1, show_default=True, help="Live streams to tune for.")
@click.option(
    "--providers",
    metavar="LIST",
    help="Execution providers to choose from, such as cpu,qnn.",
)
@click.option("--dry-run", is_flag=True, help="Measure and say what would be written.")
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Also write the evidence there; - for standard output, in place of the table.",
)
@common_options
@pass_invocation
def tune(
    invocation: Invocation,
    model: str | None,
    streams: int,
    *,
    providers: str | None,
    dry_run: bool,
    json_path: Path | None,
) -> None:
    """Find the cheapest setting that keeps up on this board.

    Threads, cores, spinning and batch, and execution providers where several are named, are tried by successive halving
    at live pace; the finalists are measured again side by side with the default. What wins goes into the board
    profile of the store, which serve uses; configuration files and options still win over it.

    \b
    Example:
      edge-asr tune
      edge-asr tune starter-en --streams 8 --dry-run
      edge-asr tune my-model-qnn --providers cpu,qnn
    """
    from edge_asr.cli.tune_job import run_job
    from edge_asr.engines.providers import known_provider

    named = tuple(known_provider(name) for name in providers.split(",")) if providers else ()
    settings = invocation.configuration(with_profile=False).settings
    code = run_job(model or "", streams, json_path, settings, is_dry=dry_run, providers=named)
    click.get_current_context().exit(code)
