"""``edge-asr selftest``: PASS or FAIL before a device is shipped."""

from __future__ import annotations

from pathlib import Path

import click

from edge_asr.cli.options import Invocation, common_options, pass_invocation


@click.command()
@click.argument("model", required=False)
@click.option("--quick", "is_quick", is_flag=True, help="Within 20 s, for ExecStartPre.")
@click.option("--long", "is_long", is_flag=True, help="Twelve minutes: also p99 and the growth of memory.")
@click.option(
    "--gate",
    "gate_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Gates of your own, see docs/self-test.md.",
)
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write the whole outcome there; - for standard output.",
)
@common_options
@pass_invocation
def selftest(
    invocation: Invocation,
    model: str | None,
    *,
    is_quick: bool,
    is_long: bool,
    gate_file: Path | None,
    json_path: Path | None,
) -> None:
    """Say PASS or FAIL before a device is shipped.

    Measures the model as the daemon would run it, at live pace and as fast as possible, and compares each figure with
    its gate. A run that was disturbed is INVALID and never a PASS. Leaves with 0 for PASS, else with 6.

    \b
    Example:
      edge-asr selftest
      edge-asr selftest --quick --json /var/lib/edge-asr/selftest.json
    """
    from edge_asr.cli.selftest_job import run_job

    if is_quick and is_long:
        raise click.UsageError("--quick and --long exclude each other")
    length = "quick" if is_quick else "long" if is_long else "default"
    settings = invocation.configuration({"model": ("MODEL", model)}).settings
    click.get_current_context().exit(run_job(model or "", length, gate_file, json_path, settings))
