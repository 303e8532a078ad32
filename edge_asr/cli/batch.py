"""``edge-asr batch``: thousands of recordings, on this machine's cores or on a Dask cluster."""

from __future__ import annotations

import click

from edge_asr.cli.options import (
    Invocation,
    commands_option,
    common_options,
    hotwords_option,
    json_option,
    model_option,
    pass_invocation,
    provider_option,
    second_pass_option,
)


@click.command()
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@click.option(
    "-o", "--output", required=True, metavar="DIR", help="Folder for the transcripts and the ledger of what is done."
)
@click.option(
    "--from",
    "lists",
    multiple=True,
    metavar="FILE",
    help="Also the recordings listed there, a path a line; - for stdin.",
)
@click.option(
    "--format",
    "transcript_format",
    type=click.Choice(["json", "jsonl", "text", "srt", "vtt"]),
    default="json",
    show_default=True,
    help="How transcripts are written, a file for each recording.",
)
@click.option(
    "--channel",
    type=click.Choice(["mix", "left", "right", "each"]),
    default="mix",
    show_default=True,
    help="Which channel of several; each: every one by itself, in a file of its own.",
)
@click.option("--raw", metavar="FORMAT", help="Recordings are samples without a header, such as s16le:16000:1.")
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes on this machine; a core each otherwise."
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="Hear them on the Dask cluster of this scheduler: tcp://HOST:8786."
)
@click.option("--again", is_flag=True, help="Hear also what an earlier run into this folder has heard.")
@hotwords_option
@json_option
@commands_option
@second_pass_option
@model_option
@provider_option
@common_options
@pass_invocation
def batch(
    invocation: Invocation,
    inputs: tuple[str, ...],
    output: str,
    lists: tuple[str, ...],
    transcript_format: str,
    channel: str,
    raw: str | None,
    jobs: int | None,
    scheduler: str | None,
    again: bool,
    as_json: bool,
) -> None:
    """Turn thousands of recordings into text.

    INPUT is a recording, or a folder whose recordings are found at any depth; their transcripts go to the same places
    below DIR. The same command goes on where an interrupted one ended, and hears only what is new or has changed.
    Recordings that cannot be used are named at the end. Without -m the model is that of `edge-asr transcribe`.

    \b
    Example:
      edge-asr batch -o texts/ recordings/
      find /srv/calls -newer last -name '*.wav' | edge-asr batch -o texts/ --channel each --from -
      edge-asr batch --scheduler tcp://head:8786 -o /srv/texts /srv/recordings
    """
    from edge_asr.cli.batch_job import Wishes, run_job

    settings = invocation.configuration().settings
    wishes = Wishes.checked(
        inputs=inputs,
        lists=lists,
        output=output,
        transcript_format=transcript_format,
        channel=channel,
        raw=raw,
        jobs=jobs,
        scheduler=scheduler,
        begins_again=again,
        as_json=as_json,
    )
    click.get_current_context().exit(run_job(wishes, settings))
