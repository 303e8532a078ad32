"""``edge-asr setup``: from a fresh installation to a service that keeps up."""

from __future__ import annotations

import click

from edge_asr.cli.options import Invocation, common_options, pass_invocation


@click.command()
@click.argument("model", required=False)
@click.option("--streams", type=click.IntRange(1, 1000), default=1, show_default=True, help="Live streams to tune for.")
@click.option("--user", "is_of_the_user", is_flag=True, help="A service of this user, not of the machine.")
@click.option("--no-tune", is_flag=True, help="Keep the settings as they are.")
@click.option("--no-selftest", is_flag=True, help="Start the service untested, on a board that is never at rest.")
@click.option("--no-service", is_flag=True, help="Test only, and start nothing.")
@common_options
@pass_invocation
def setup(
    invocation: Invocation,
    model: str | None,
    *,
    streams: int,
    is_of_the_user: bool,
    no_tune: bool,
    no_selftest: bool,
    no_service: bool,
) -> int:
    """Examine, tune and test this board, and start the service.

    Does what `doctor`, `config init`, `tune`, `selftest` and `models activate MODEL` do, one after the other, and then
    installs and starts the service of systemd. It asks nothing, and stops at the first step that says no. A
    service that runs is stopped meanwhile, since it would disturb what is measured, and is started again whatever comes
    out.

    \b
    Example:
      sudo edge-asr setup
      sudo edge-asr setup moonshine-tiny-en
      edge-asr setup --user
    """
    from edge_asr.cli.setup_job import Wish, run_job

    wish = Wish(
        model=model or "",
        streams=streams,
        is_of_the_user=is_of_the_user,
        is_tuned=not no_tune,
        is_tested=not no_selftest,
        is_served=not no_service,
    )
    return run_job(invocation, wish)
