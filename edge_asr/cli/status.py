"""``edge-asr status``: what a running daemon says about itself."""

from __future__ import annotations

import click

from edge_asr.cli.daemon_address import DEFAULT_URL
from edge_asr.cli.options import common_options, json_option


@click.command()
@click.argument("url", metavar="[URL]", default=DEFAULT_URL)
@click.option("--token-file", metavar="FILE", help="File with the daemon's bearer token.")
@json_option
@common_options
def status(url: str, token_file: str | None, as_json: bool) -> None:
    """Ask a running daemon how it is.

    Prints the model, the provider that really runs it, sessions, real-time factor, memory, temperature, restarts, and
    who may use which door. URL defaults to http://127.0.0.1:8765.

    \b
    Example:
      edge-asr status
      edge-asr status --json http://board:8765 --token-file token
    """
    from edge_asr.cli.status_report import fetch, render

    document = fetch(url, token_file)
    if as_json:
        import json

        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo(render(document), nl=False)
