"""``edge-asr transcribe``: recordings to text or subtitles, in this process."""

from __future__ import annotations

import click

from edge_asr.cli.options import (
    Invocation,
    commands_option,
    common_options,
    hotwords_option,
    model_option,
    pass_invocation,
    provider_option,
    second_pass_option,
    text_options,
)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--format",
    "transcript_format",
    type=click.Choice(["text", "json", "jsonl", "srt", "vtt"]),
    default="text",
    show_default=True,
    help="How transcripts are written.",
)
@click.option(
    "-o", "--output", metavar="PATH", help="Write to this file, or to a file per recording in this directory (NAME/)."
)
@click.option(
    "--channel",
    type=click.Choice(["mix", "left", "right", "each"]),
    default="mix",
    show_default=True,
    help="Which channel of several; each: every one by itself.",
)
@click.option("--realtime", is_flag=True, help="Play recordings at the pace of speech.")
@click.option("--partials", is_flag=True, help="Show what is not final yet, on standard error; with jsonl as lines.")
@click.option("--raw", metavar="FORMAT", help="Recordings are samples without a header, such as s16le:16000:1.")
@hotwords_option
@commands_option
@second_pass_option
@text_options
@model_option
@provider_option
@common_options
@pass_invocation
def transcribe(
    invocation: Invocation,
    files: tuple[str, ...],
    transcript_format: str,
    output: str | None,
    channel: str,
    realtime: bool,
    partials: bool,
    raw: str | None,
) -> None:
    """Turn recordings into text or subtitles.

    FILE is anything libsndfile reads (WAV, FLAC, Ogg, MP3, …), anything ffmpeg reads where it is installed, or - for
    standard input. Recordings that cannot be used are named on standard error, and the others are still done.
    Without -m it is moonshine-tiny-en that listens, where it is installed, and else the active model.

    \b
    Example:
      edge-asr transcribe --format srt -o talk.srt talk.m4a
      edge-asr transcribe -m MODEL --hotwords names.txt call.wav
      edge-asr transcribe --itn --format json interview.flac
      edge-asr transcribe --commands kitchen.yaml --format json order.wav
      arecord -f S16_LE -r 16000 | edge-asr transcribe --partials -
    """
    from edge_asr.cli.transcription_job import Wishes, run_job

    settings = invocation.configuration().settings
    wishes = Wishes.checked(
        files=files,
        transcript_format=transcript_format,
        output=output,
        channel=channel,
        raw=raw,
        is_realtime=realtime,
        has_partials=partials,
    )
    click.get_current_context().exit(run_job(wishes, settings))
