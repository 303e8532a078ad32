"""``edge-asr plan``: how many boards a load needs."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict, Unpack

import click

from edge_asr.bench.load import Arrivals, CallLoad, Load, Reserve, StandingStreams
from edge_asr.cli.options import FiniteRange, common_options, json_option
from edge_asr.errors import ConfigurationError, GateFailed


class Share(click.ParamType[float]):
    """``1%`` or ``0.01``."""

    name = "share"

    def convert(self, value: object, parameter: click.Parameter | None, context: click.Context | None) -> float:
        """Read a share.

        Raises:
            click.BadParameter: It is no number, or not from 0 up to, without it, 1.
        """
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
        except ValueError:
            self.fail(f"{value!r} is no share; write 1% or 0.01", parameter, context)
        if not 0 <= share < 1:
            self.fail(f"{value!r} is not a share from 0% to below 100%", parameter, context)
        return share


class LoadOptions(TypedDict):
    """The load and the reserve as they were typed."""

    streams: int | None
    calls_per_hour: float | None
    mean_duration: float | None
    peak_factor: float
    arrivals: Arrivals
    burst_size: float
    blocking: float
    headroom: float
    spare_boards: int


_POSITIVE = FiniteRange(min=0.01, max=1e9)

_MOST_ERLANGS = 100_000
"""More is a network of sites, each of which wants a plan of its own."""


@click.command()
@click.option(
    "--bench", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="JSON of `edge-asr bench`."
)
@click.option(
    "-m", "--model", metavar="MODEL", help="Which of the measured models; the one that carries most otherwise."
)
@click.option("--streams", type=click.IntRange(min=1, max=1_000_000), metavar="N", help="Streams that are always on.")
@click.option("--calls-per-hour", type=_POSITIVE, metavar="N", help="Calls that come and go, in a mean hour.")
@click.option("--mean-duration", type=_POSITIVE, metavar="S", help="Of a call, in seconds.")
@click.option(
    "--peak-factor",
    type=FiniteRange(min=1, max=1000),
    default=1.0,
    metavar="F",
    help="Busiest hour over mean hour.",
)
@click.option(
    "--arrivals",
    type=click.Choice(("uniform", "poisson", "bursty")),
    default="poisson",
    help="At equal intervals, independently of each other (the default), or in bursts.",
)
@click.option(
    "--burst-size", type=FiniteRange(min=1, max=1000), default=2.0, metavar="M", help="Mean calls per burst (2)."
)
@click.option("--blocking", type=Share(), default="1%", metavar="SHARE", help="Calls that may find no stream (1%).")
@click.option("--headroom", type=Share(), default="20%", metavar="SHARE", help="Of each board, kept free (20%).")
@click.option("--spare-boards", type=click.IntRange(min=0), default=0, metavar="N", help="That may fail unnoticed (0).")
@click.option("--seed", type=int, default=0, metavar="N", help="Of the simulation that checks the plan.")
@json_option
@common_options
def plan(bench: Path | None, model: str | None, as_json: bool, seed: int, **given: Unpack[LoadOptions]) -> None:
    """Work out how many boards a load needs.

    Takes what a bench measured on one board and answers with boards, blocking probability, memory, bandwidth, and
    advice on CPU, NPU or GPU, with the arithmetic and every assumption. Capacity is counted in streams at a time. A
    simulation of the planned boards, call by call, stands beside the formulas.

    A plan made from invalid measurements says so and ends with exit code 6.

    \b
    Example:
      edge-asr bench moonshine-tiny-en --mode both --streams 1,2,4,8 --json bench.json
      edge-asr plan --bench bench.json --streams 12
      edge-asr plan --bench bench.json --calls-per-hour 120 --mean-duration 180 --peak-factor 2 --blocking 1%
    """
    from edge_asr.bench.capacity import capacity_from_document
    from edge_asr.bench.document import read_document
    from edge_asr.bench.plan import plan_boards
    from edge_asr.cli.plan_report import as_document, render

    load = _load(given)
    if bench is None:
        raise ConfigurationError(
            "a plan needs measurements of one board; make them there with "
            "`edge-asr bench MODEL --mode both --streams 1,2,4,8 --json bench.json`, then add `--bench bench.json`"
        )
    capacity = capacity_from_document(read_document(bench), model)
    planned = plan_boards(capacity, load, Reserve(given["headroom"], given["spare_boards"]), seed=seed)
    if as_json:
        click.echo(as_document(capacity, load, planned))
    else:
        render(capacity, load, planned)
    if capacity.violations:
        raise GateFailed("the plan stands on invalid measurements; run the bench again on an undisturbed board")


def _load(given: LoadOptions) -> Load:
    streams, rate, duration_s = given["streams"], given["calls_per_hour"], given["mean_duration"]
    has_calls = rate is not None or duration_s is not None
    if has_calls == (streams is not None):
        raise ConfigurationError("say either --streams N, or --calls-per-hour N with --mean-duration S")
    if streams is not None:
        return StandingStreams(streams)
    if rate is None or duration_s is None:
        raise ConfigurationError("--calls-per-hour and --mean-duration belong together; give both")
    if not given["blocking"]:
        raise ConfigurationError("--blocking 0 needs boards without end; name a share such as 0.1%")
    load = CallLoad(
        calls_per_hour=rate,
        mean_duration_s=duration_s,
        peak_factor=given["peak_factor"],
        arrivals=given["arrivals"],
        burst_size=given["burst_size"],
        max_blocking=given["blocking"],
    )
    if load.offered_erlangs > _MOST_ERLANGS:
        raise ConfigurationError(
            f"{load.offered_erlangs:.0f} calls at a time are beyond {_MOST_ERLANGS}; plan the sites one by one"
        )
    return load
