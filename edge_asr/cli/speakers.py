"""``edge-asr speakers``: the voices that finals are compared with."""

from __future__ import annotations

import json

import click

from edge_asr.cli.messages import remark, warn
from edge_asr.cli.options import Invocation, common_options, json_option, pass_invocation
from edge_asr.cli.stores import open_store
from edge_asr.store.speakers import EnrolledSpeaker


@click.group()
@common_options
def speakers() -> None:
    """Enroll voices, so that finals name who spoke.

    \b
    Example:
      edge-asr speakers enroll Anna anna-1.wav anna-2.wav
    """


@speakers.command()
@common_options
@pass_invocation
@click.option("-m", "--model", metavar="MODEL", help="Speaker embedding model; speakers.model when omitted.")
@click.argument("name", metavar="NAME")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
def enroll(invocation: Invocation, *, name: str, files: tuple[str, ...], model: str | None) -> None:
    """Enroll a voice from recordings of one person, in place of an earlier one of that name.

    Several short recordings from the microphone that will be used are best. They are not kept: the store gets some
    hundred numbers of each voice. A running daemon takes them when it is reloaded.

    \b
    Example:
      edge-asr speakers enroll Anna anna-1.wav anna-2.wav anna-3.wav
    """
    from edge_asr.cli.speakers_job import enroll_voice

    settings = invocation.configuration({"speakers.model": ("-m", model)}).settings
    click.get_current_context().exit(enroll_voice(open_store(), settings, name, files))


@speakers.command("list")
@common_options
@json_option
def list_speakers(*, as_json: bool) -> None:
    """List the enrolled voices.

    \b
    Example:
      edge-asr speakers list
    """
    shelf = open_store().speakers.read()
    if as_json:
        click.echo(json.dumps([_entry(speaker) for speaker in shelf.speakers], ensure_ascii=False))
    else:
        for line in _lines(shelf.speakers):
            click.echo(line)
    for path in shelf.damaged:
        warn(f"{path} is damaged; enroll that speaker again")


@speakers.command()
@common_options
@click.argument("name", metavar="NAME")
def remove(*, name: str) -> None:
    """Forget a voice.

    \b
    Example:
      edge-asr speakers remove Anna
    """
    open_store().speakers.remove(name)
    remark(f"{name} is forgotten; a running daemon forgets it when it is reloaded")


def _entry(speaker: EnrolledSpeaker) -> dict[str, object]:
    return {
        "name": speaker.name,
        "model": speaker.model,
        "recordings": speaker.recordings,
        "speech_s": round(speaker.speech_s, 1),
    }


def _lines(enrolled: tuple[EnrolledSpeaker, ...]) -> list[str]:
    width = max((len(speaker.name) for speaker in enrolled), default=0)
    return [
        f"{each.name:<{width}}  {each.recordings} recordings, {each.speech_s:.1f} s of speech  {each.model}"
        for each in enrolled
    ]
