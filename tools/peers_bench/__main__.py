"""``tools/peers``: who runs, in which order, and what is printed."""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from edge_asr.cli import exit_codes
from edge_asr.cli.exit_codes import exit_code_of
from edge_asr.errors import EdgeAsrError
from edge_asr.workload import bundled_clips, read_clips
from tools.peers_bench.capacity import Level, find_capacity
from tools.peers_bench.cases import OPPONENTS, Field, gather
from tools.peers_bench.comparison import figures_of, ratios_of, worst
from tools.peers_bench.measurement import Pass, measure
from tools.peers_bench.peer import PeerFailed
from tools.peers_bench.processes import foreign_share, machine_use
from tools.peers_bench.recordings import Recording, joined, prepare
from tools.peers_bench.table import figures_table, load_note, ratios_table

ROOT = Path(__file__).resolve().parents[2]
MOST_STREAMS = 256
FIRST_STREAMS = 4


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured."""

    repetitions: int
    long_recordings: int
    long_s: float
    """Of each recording that is decoded as fast as possible."""
    searches: int
    """For the most streams, of each server with each model."""
    search_s: float
    """Of speech at each load that is tried."""


FULL = Extent(repetitions=5, long_recordings=2, long_s=60.0, searches=2, search_s=20.0)
QUICK = Extent(repetitions=2, long_recordings=1, long_s=40.0, searches=1, search_s=10.0)


@dataclass(frozen=True, slots=True)
class Search:
    """The most streams of a server."""

    peer: str
    model: str
    most: int
    foreign_share: float
    levels: tuple[Level, ...]


def main() -> int:
    """The run."""
    options = _options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was measured is shown all the same
    extent = QUICK if options.quick else FULL
    repetitions = extent.repetitions if options.repeat is None else options.repeat
    try:
        field = gather(options.opponent or OPPONENTS, options.model or ["starter-en"], options.venv)
        with tempfile.TemporaryDirectory() as folder:
            clips = read_clips(options.audio) if options.audio else bundled_clips()
            spoken = prepare(clips, Path(folder))
            long = [joined(spoken, extent.long_s, Path(folder), seed) for seed in range(extent.long_recordings)]
            passes, searches = list[Pass](), list[Search]()
            status = 0
            try:
                run_passes(passes, field, repetitions, long, spoken, options.seed)
                if not options.no_streams:
                    run_searches(searches, field, extent, spoken, options.seed)
            except KeyboardInterrupt:
                field.left_out.append("interrupted: what had been measured by then")
                status = exit_codes.INTERRUPTED
    except EdgeAsrError as error:
        print(f"tools/peers: {error}", file=sys.stderr)
        return exit_code_of(error)
    print(_report(passes, searches, field))
    if options.json:
        document = _document(passes, searches, field)
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return status


def run_passes(
    passes: list[Pass],
    field: Field,
    repetitions: int,
    long: Sequence[Recording],
    spoken: Sequence[Recording],
    seed: int,
) -> None:
    """Every case once a repetition, each repetition in another drawn order; who fails is left out from then on."""
    draw = random.Random(seed)  # noqa: S311  not a secret
    for repetition in range(repetitions):
        for case in draw.sample(field.cases, len(field.cases)):
            _progress(f"{repetition + 1}/{repetitions} {case.peer.name} with {case.model_name}")
            try:
                passes.append(measure(case, repetition, long, spoken))
            except PeerFailed as error:
                field.left_out.append(f"{case.peer.name} with {case.model_name}: {error}")
                field.cases.remove(case)


def run_searches(searches: list[Search], field: Field, extent: Extent, spoken: Sequence[Recording], seed: int) -> None:
    """The servers in turn, and in the opposite order the next time."""
    for number in range(extent.searches):
        for peer, model in field.servers[:: -1 if number % 2 else 1]:
            _progress(f"streams of {peer.name} with {model.manifest.name}")
            before = machine_use()
            try:
                with peer.start(model) as server:
                    most, levels = find_capacity(
                        server,
                        spoken,
                        start=FIRST_STREAMS,
                        most=MOST_STREAMS,
                        seconds=extent.search_s,
                        seed=seed + number,
                    )
            except PeerFailed as error:
                field.left_out.append(f"streams of {peer.name}: {error}")
                continue
            share = foreign_share(before, machine_use(), _cores())
            searches.append(Search(peer.name, model.manifest.name, most, share, tuple(levels)))


def _report(passes: Sequence[Pass], searches: Sequence[Search], field: Field) -> str:
    streams = [(each.peer, each.model, each.most) for each in searches]
    parts = [
        figures_table(figures_of(passes), streams),
        ratios_table(ratios_of(passes, streams)),
        load_note([*(each.foreign_share for each in passes), *(each.foreign_share for each in searches)]),
        *field.left_out,
    ]
    return "\n\n".join(part for part in parts if part)


def _document(passes: Sequence[Pass], searches: Sequence[Search], field: Field) -> dict[str, Any]:
    streams = [(each.peer, each.model, each.most) for each in searches]
    ratios = ratios_of(passes, streams)
    return {
        "ratios": worst(ratios),
        "comparisons": [asdict(ratio) for ratio in ratios],
        "figures": [asdict(figures) for figures in figures_of(passes)],
        "streams": [asdict(search) for search in searches],
        "left_out": field.left_out,
        "machine": {
            "cores": _cores(),
            "kernel": platform.release(),
            "architecture": platform.machine(),
            "python": platform.python_version(),
            "foreign_shares": [each.foreign_share for each in passes],
        },
        "versions": {"edge-asr": version("edge-asr"), "sherpa-onnx": version("sherpa-onnx")},
        "command": sys.argv[1:],
        "passes": [asdict(each) for each in passes],
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/peers", description="Measure edge-asr beside other recognisers.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything to FILE")
    parser.add_argument("--audio", type=Path, metavar="DIR|MANIFEST", help="recordings; the bundled ones by default")
    parser.add_argument("--repeat", type=int, metavar="N", help="repetitions (5; quick: 2); 0: only the most streams")
    parser.add_argument("--quick", action="store_true", help="a quarter of the time; wider intervals")
    parser.add_argument(
        "--model",
        action="append",
        metavar="MODEL",
        help="streaming model for edge-asr and sherpa-onnx: store name or directory, such as tools/shape_models makes; "
        "may be repeated (starter-en)",
    )
    parser.add_argument("--opponent", action="append", choices=OPPONENTS, help="may be repeated (all)")
    parser.add_argument("--no-streams", action="store_true", help="do not search for the most streams")
    parser.add_argument("--venv", type=Path, metavar="DIR", default=ROOT / ".venv-peers", help="peers' environments")
    parser.add_argument("--seed", type=int, default=0, help="of orders and starts (0)")
    return parser.parse_args()


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _progress(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
