"""``edge-asr client``: recordings to a running daemon, as that protocol's ordinary client would send them."""

from __future__ import annotations

import click

from edge_asr.cli.options import ITN, PUNCTUATION, Invocation, common_options, pass_invocation


@click.command()
@click.argument("words", nargs=-1, metavar="[URL] FILE...")
@click.option(
    "--protocol",
    type=click.Choice(["native", "wyoming", "vosk", "sherpa", "openai", "realtime"]),
    help="Default: wyoming for tcp:// and unix://, else native.",
)
@click.option("--realtime", is_flag=True, help="Send at the pace of speech, as a microphone would.")
@click.option("--language", default="", metavar="TAG", help="Language to ask for, such as en.")
@click.option("--model", default="", metavar="NAME", help="Model to ask for; default: the active one.")
@click.option("--hotword", multiple=True, metavar="WORD", help="Word or phrase to expect; may be given several times.")
@click.option(ITN[0], default=None, help=ITN[1])
@click.option(PUNCTUATION[0], default=None, help=PUNCTUATION[1])
@click.option("--token-file", metavar="FILE", help="File with the daemon's bearer token.")
@click.option("--json", "as_json", is_flag=True, help="Print every event and the latencies as one JSON line each.")
@common_options
@pass_invocation
def client(
    invocation: Invocation,
    words: tuple[str, ...],
    protocol: str | None,
    realtime: bool,
    language: str,
    model: str,
    hotword: tuple[str, ...],
    itn: bool | None,
    punctuation: bool | None,
    token_file: str | None,
    as_json: bool,
) -> None:
    """Send recordings to a running daemon.

    Prints finals as they come; partials and latencies go to standard error. FILE is anything `transcribe` reads, or -
    for standard input. Without URL it is the daemon of this machine, at the address of its configuration.

    \b
    Example:
      edge-asr client --realtime speech.wav
      edge-asr client https://board:8765 --token-file token speech.wav
      edge-asr client tcp://127.0.0.1:10300 speech.wav
      edge-asr client --protocol sherpa ws://127.0.0.1:6006 speech.wav
    """
    from edge_asr.cli.client_job import Wishes, run_job
    from edge_asr.cli.client_links import Wanted
    from edge_asr.cli.daemon_address import local_daemon, split_address

    url, files = split_address(words)
    if url is None:
        url, token_file = local_daemon(invocation.server_settings(), token_file, is_wyoming=protocol == "wyoming")
    wishes = Wishes.checked(
        url=url,
        files=files,
        protocol=protocol,
        is_realtime=realtime,
        wanted=Wanted(language, model, hotword, itn, punctuation),
        token_file=token_file,
        as_json=as_json,
    )
    click.get_current_context().exit(run_job(wishes))
