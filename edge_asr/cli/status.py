"""``edge-asr status``: what a running daemon says about itself."""

from __future__ import annotations

import click

from edge_asr.cli.options import Invocation, common_options, json_option, pass_invocation


@click.command()
@click.argument("url", metavar="[URL]", required=False)
@click.option("--token-file", metavar="FILE", help="File with the daemon's bearer token.")
@click.option(
    "--trace",
    metavar="SESSION",
    help="Have a session (its id, or next) written down by the daemon of this machine, and print where.",
)
@json_option
@common_options
@pass_invocation
def status(invocation: Invocation, url: str | None, token_file: str | None, trace: str | None, as_json: bool) -> None:
    """Ask a running daemon how it is.

    Prints the model, the provider that really runs it, sessions, real-time factor, memory, temperature, restarts, and
    who may use which door. Without URL it is the daemon of this machine, at the address of its configuration.

    \b
    Example:
      edge-asr status
      edge-asr status --json http://board:8765 --token-file token
      edge-asr status --trace next
    """
    if trace is not None:
        _trace(trace, invocation.server_settings().admin_socket)
        return
    from edge_asr.cli.daemon_address import local_daemon
    from edge_asr.cli.status_report import fetch, render

    if url is None:
        url, token_file = local_daemon(invocation.server_settings(), token_file)
    document = fetch(url, token_file)
    if as_json:
        import json

        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo(render(document), nl=False)


def _trace(session: str, admin_socket: str) -> None:
    import os

    from edge_asr.cli.admin_socket import running_daemon
    from edge_asr.errors import MachineError

    daemon = running_daemon(admin_socket, os.environ)
    if daemon is None:
        raise MachineError("no daemon with an admin socket runs here; POST /admin/trace of its HTTP door does the same")
    click.echo(daemon.trace(session)["directory"])
