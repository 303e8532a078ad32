"""``edge-asr doctor``: what this machine is, and what will go wrong on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from edge_asr.cli import exit_codes
from edge_asr.cli.options import Invocation, common_options, json_option, pass_invocation

if TYPE_CHECKING:
    from edge_asr.diagnosis.finding import Finding


@click.command()
@json_option
@common_options
@pass_invocation
def doctor(invocation: Invocation, *, as_json: bool) -> int:
    """Find out what will go wrong on this machine.

    Looks at processor, power supply, heat, memory, swap, sound devices, ports, clock, models and disk; loads the engine
    and the model in processes of their own. Every finding says why it matters and what to do. Exits with 5 when this
    machine cannot do it as it is.

    \b
    Example:
      edge-asr doctor
      edge-asr doctor --json
    """
    return examine(invocation, as_json=as_json)


def examine(invocation: Invocation, model: str | None = None, *, as_json: bool = False) -> int:
    """Look at everything and say it; the exit code.

    Args:
        invocation: Brings the configuration.
        model: Store name of the one to look at; the configured one otherwise.
        as_json: Whether one JSON document is printed.
    """
    from edge_asr.cli.doctor_report import document, render
    from edge_asr.resources.board import read_board

    board = read_board()
    # A damaged model is met in the store and when it is chosen.
    findings = tuple(dict.fromkeys(_examine(invocation, model)))
    if as_json:
        import json

        click.echo(json.dumps(document(board, findings), indent=2, ensure_ascii=False))
    else:
        click.echo(render(board, findings), nl=False)
    return exit_codes.MACHINE if any(finding.level == "error" for finding in findings) else exit_codes.DONE


def _examine(invocation: Invocation, named: str | None) -> Iterator[Finding]:
    from edge_asr.cli.stores import active_name, choose_model, open_store
    from edge_asr.diagnosis import examination
    from edge_asr.diagnosis.storage import model_findings
    from edge_asr.errors import ModelError
    from edge_asr.store.voice_activity import installed_vad

    settings = invocation.configuration({"model": ("MODEL", named)}).settings
    store = open_store()
    yield from examination.examine_board()
    yield from examination.examine_surroundings()
    yield from examination.examine_sound()
    yield from examination.examine_doors(settings.server)
    served = settings.model or active_name(store)
    yield from examination.examine_store(store, served)
    yield from examination.examine_npus(settings.engine, store.installed())
    try:
        model = choose_model(store, settings.model)
    except ModelError as error:
        yield from model_findings({served: error}, served)
        return
    yield from examination.examine_engine(store, model, settings.engine, installed_vad(store))
