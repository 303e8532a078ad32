"""A decoding graph for a CTC model: ``graph.py MODEL_DIR OUT.fst --words words.txt [--reject]``.

What may be heard is a list of words in any order (``--words``; with ``--typical`` some orders are likelier), one of a
list of sentences (``--sentences``), or a grammar (``--grammar``, JSGF). ``docs/decoding-graphs.md`` explains all of it.
Needs no training environment, only ``pip install 'edge-asr[graph]'``.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, replace
from pathlib import Path

from edge_asr.commands.bigram import estimate_bigram
from edge_asr.commands.grammar import Expression, or_any_speech, sentences, word_loop
from edge_asr.commands.graph import (
    BIGRAM_COSTS,
    WORD_LOOP_COSTS,
    Costs,
    DecodingGraph,
    build_bigram_graph,
    build_language,
)
from edge_asr.commands.jsgf import read_jsgf
from edge_asr.commands.spelling import Speller, read_speller
from edge_asr.errors import EdgeAsrError

LANGUAGE_SCALE = 0.7
"""The model's scores are too sure of themselves for more; ``models/starter-en/README.md`` has the figures."""


def main() -> None:
    args = arguments()
    try:
        graph = graph_of(args, read_speller(args.model / "bpe.model", args.model / "tokens.txt"))
        graph.write(args.out)
    except (EdgeAsrError, OSError) as error:
        sys.exit(f"error: {error}")
    size = args.out.stat().st_size
    print(f"{args.out}: {graph.states} states, {len(graph.arcs)} arcs, {size} bytes", file=sys.stderr)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder with bpe.model and tokens.txt")
    parser.add_argument("out", type=Path)
    said = parser.add_mutually_exclusive_group(required=True)
    said.add_argument("--words", type=Path, metavar="FILE", help="these words in any order")
    said.add_argument("--sentences", type=Path, metavar="FILE", help="one of these lines")
    said.add_argument("--grammar", type=Path, metavar="FILE", help="a sentence of this JSGF grammar")
    parser.add_argument("--typical", type=Path, metavar="FILE", help="lines of the --words as they are usually said")
    parser.add_argument(
        "--scale", type=float, default=LANGUAGE_SCALE, help="what the order counts (default %(default)s)"
    )
    parser.add_argument("--reject", action="store_true", help="other speech becomes no text instead of the nearest")
    costs = parser.add_argument_group("costs", "in nats; each is explained in edge_asr/commands/graph.py")
    for name, value in asdict(Costs()).items():
        loop = f"; with --words {WORD_LOOP_COSTS.token}, with --typical {BIGRAM_COSTS.token}"
        shown = f"{value}{loop if name == 'token' else ''}"
        costs.add_argument(f"--{name.replace('_', '-')}-cost", type=float, help=f"(default {shown})")
    args = parser.parse_args()
    if args.typical and (not args.words or args.reject):
        parser.error("--typical goes with --words, and without --reject")
    return args


def graph_of(args: argparse.Namespace, speller: Speller) -> DecodingGraph:
    if not args.typical:
        return build_language(expression_of(args), speller, costs_of(args)).graph
    sentences = (line.split() for line in lines_of(args.typical))
    bigram = estimate_bigram((word for line in lines_of(args.words) for word in line.split()), sentences)
    return build_bigram_graph(bigram, speller, args.scale, costs_of(args))


def costs_of(args: argparse.Namespace) -> Costs:
    given = {name: getattr(args, f"{name}_cost") for name in asdict(Costs())}
    default = BIGRAM_COSTS if args.typical else WORD_LOOP_COSTS if args.words else Costs()
    return replace(default, **{name: value for name, value in given.items() if value is not None})


def expression_of(args: argparse.Namespace) -> Expression:
    if args.grammar:
        expression = read_jsgf(args.grammar.read_text(encoding="utf-8"))
    else:
        expression = word_loop(lines_of(args.words)) if args.words else sentences(lines_of(args.sentences))
    return or_any_speech(expression) if args.reject else expression


def lines_of(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


if __name__ == "__main__":
    main()
