"""``edge-asr bench``: what this machine does with a model, measured."""

from __future__ import annotations

from pathlib import Path

import click

from edge_asr.cli.bench_comparison import WithComparison
from edge_asr.cli.options import FiniteRange, Invocation, common_options, pass_invocation, second_pass_option
from edge_asr.settings import Settings


@click.command(cls=WithComparison)
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option(
    "--audio",
    type=click.Path(path_type=Path),
    metavar="MANIFEST|DIR",
    help="Recordings, with references (TSV: audio, text); without it, those inside the package.",
)
@click.option(
    "--mode",
    type=click.Choice(["throughput", "paced", "both"]),
    default="both",
    show_default=True,
    help="As fast as possible, at the pace of speech, or one after the other.",
)
@click.option("--threads", metavar="LIST", help="Engine threads, such as 1,2,4; without it engine.threads.")
@click.option("--streams", default="1", show_default=True, metavar="LIST", help="Streams side by side, such as 1,4,16.")
@click.option(
    "--cpus",
    multiple=True,
    metavar="LIST",
    help="Cores, such as 4-7; give it again to compare core sets; without it worker.cpus.",
)
@click.option(
    "--providers", metavar="LIST", help="Execution providers, such as cpu,xnnpack; without it engine.provider."
)
@click.option(
    "--pieces",
    default="100",
    show_default=True,
    metavar="LIST",
    help="Audio handed over at a time, 10 to 5000 ms.",
)
@click.option(
    "--batch", metavar="LIST", help="Streams decoded in one call, such as 1,8; without it scheduler.max_batch."
)
@click.option(
    "--window",
    metavar="LIST",
    help="How long a step may wait for more streams, ms, such as 0,20,80; without it scheduler.window_ms.",
)
@click.option(
    "--spinning",
    type=click.Choice(["off", "on", "both"]),
    help="Whether engine threads spin while they wait; without it engine.allow_spinning.",
)
@second_pass_option
@click.option("--url", metavar="DAEMON", help="Measure a running daemon, http://HOST:PORT, by its native protocol.")
@click.option("--token-file", metavar="FILE", help="With --url: file with the daemon's bearer token.")
@click.option("--soak", metavar="DURATION", help="One long paced run, such as 30m or 24h, looking for drift.")
@click.option("--accelerate", is_flag=True, help="With --soak: feed as fast as it is decoded; no latencies.")
@click.option("--profile-ops", is_flag=True, help="Also trace the model's operators, in a run of its own.")
@click.option(
    "--repeat", type=click.IntRange(1, 100), default=5, show_default=True, help="Processes per configuration."
)
@click.option(
    "--seconds",
    type=FiniteRange(5, 86_400),
    default=60,
    show_default=True,
    help="How long listeners talk in each paced run, and audio decoded in each other one.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the order in which runs are interleaved.")
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write everything there; - for standard output, in place of the table.",
)
@click.option(
    "--html",
    "html_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write one self-contained page with plots there.",
)
@click.option("--markdown", is_flag=True, help="Print the table in Markdown.")
@common_options
@pass_invocation
def bench(
    invocation: Invocation,
    models: tuple[str, ...],
    audio: Path | None,
    mode: str,
    threads: str | None,
    streams: str,
    cpus: tuple[str, ...],
    providers: str | None,
    pieces: str,
    batch: str | None,
    window: str | None,
    spinning: str | None,
    url: str | None,
    token_file: str | None,
    soak: str | None,
    accelerate: bool,
    profile_ops: bool,
    repeat: int,
    seconds: float,
    seed: int,
    json_path: Path | None,
    html_path: Path | None,
    markdown: bool,
) -> None:
    """Measure a model on this machine.

    Every run is a fresh process; repetitions are interleaved; the machine is watched meanwhile, and a run that was
    disturbed is marked invalid and leaves with 6. Figures are explained in docs/metrics.md.

    \b
    Example:
      edge-asr bench
      edge-asr bench starter-en --second-pass moonshine-tiny-en --html tiers.html
      edge-asr bench --url http://127.0.0.1:8765 --mode paced
      edge-asr bench --soak 24h --accelerate --json soak.json
      edge-asr bench starter-en --mode paced --threads 1,2 --streams 1,4,8 --json a.json --html a.html
      edge-asr bench compare a.json b.json
    """
    from edge_asr.cli.bench_job import run_job
    from edge_asr.cli.bench_wishes import Wishes

    wishes = Wishes.checked(
        models=models,
        audio=audio,
        mode=mode,
        threads=threads,
        streams=streams,
        cpus=cpus,
        providers=providers,
        pieces=pieces,
        batch=batch,
        window=window,
        spinning=spinning,
        asks_for_second_pass="second_pass.model" in invocation.named,
        url=url,
        token_file=token_file,
        soak=soak,
        accelerates=accelerate,
        profiles_operators=profile_ops,
        repetitions=repeat,
        seconds=seconds,
        seed=seed,
        json_path=json_path,
        html_path=html_path,
        is_markdown=markdown,
    )

    def settings_of(model: str) -> Settings:
        return invocation.configuration({"model": ("MODEL", model or None)}).settings

    click.get_current_context().exit(run_job(wishes, settings_of))
