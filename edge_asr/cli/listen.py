"""``edge-asr listen``: options to settings, and live captions."""

from __future__ import annotations

import click

from edge_asr.cli.options import (
    Invocation,
    commands_option,
    common_options,
    model_option,
    pass_invocation,
    provider_option,
    second_pass_option,
    setting_option,
    text_options,
)
from edge_asr.errors import ConfigurationError


@click.command()
@setting_option(
    "microphone.device",
    "--device",
    metavar="NAME",
    help="Sound device; its name or a part of it, as `edge-asr devices` lists it.",
)
@model_option
@provider_option
@commands_option
@second_pass_option
@text_options
@click.option("--jsonl", "as_jsonl", is_flag=True, help="One JSON document per line for everything that is heard.")
@click.option("--srt", "as_srt", is_flag=True, help="Subtitles, each as soon as it is final.")
@common_options
@pass_invocation
def listen(
    invocation: Invocation,
    as_jsonl: bool,
    as_srt: bool,
) -> None:
    """Write down what a microphone hears.

    Text that is settled is plain, text that may still change is dim, and each finished sentence stands on a line of its
    own. Without a terminal only the finished sentences are written. A microphone that is unplugged is waited for.
    Ctrl-C ends with the last words. With --commands, each spoken command is followed by what was meant.

    \b
    Example:
      edge-asr listen
      edge-asr listen --device "USB" --srt > talk.srt
      edge-asr listen --commands kitchen.yaml --jsonl
    """
    if as_jsonl and as_srt:
        raise ConfigurationError("--jsonl and --srt are two formats of the same output; give one of them")
    from edge_asr.cli.listen_job import run_job

    settings = invocation.configuration().settings
    run_job(settings, "jsonl" if as_jsonl else "srt" if as_srt else "captions")
