"""A decoding graph for a CTC model: ``graph.py MODEL_DIR OUT.fst --words words.txt [--reject]``.

What may be heard is a list of words in any order (``--words``), one of a list of sentences (``--sentences``), or a
grammar (``--grammar``, JSGF). ``docs/decoding-graphs.md`` explains the options. Needs no training environment, only
``pip install 'edge-asr[graph]'``.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, replace
from pathlib import Path

from edge_asr.commands.grammar import Expression, or_any_speech, sentences, word_loop
from edge_asr.commands.graph import WORD_LOOP_COSTS, Costs, build_language
from edge_asr.commands.jsgf import read_jsgf
from edge_asr.commands.spelling import read_speller
from edge_asr.errors import EdgeAsrError


def main() -> None:
    args = arguments()
    try:
        expression = expression_of(args)
        speller = read_speller(args.model / "bpe.model", args.model / "tokens.txt")
        language = build_language(expression, speller, costs_of(args))
        language.graph.write(args.out)
    except (EdgeAsrError, OSError) as error:
        sys.exit(f"error: {error}")
    size = args.out.stat().st_size
    print(f"{args.out}: {language.graph.states} states, {len(language.graph.arcs)} arcs, {size} bytes", file=sys.stderr)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder with bpe.model and tokens.txt")
    parser.add_argument("out", type=Path)
    said = parser.add_mutually_exclusive_group(required=True)
    said.add_argument("--words", type=Path, metavar="FILE", help="these words in any order")
    said.add_argument("--sentences", type=Path, metavar="FILE", help="one of these lines")
    said.add_argument("--grammar", type=Path, metavar="FILE", help="a sentence of this JSGF grammar")
    parser.add_argument("--reject", action="store_true", help="other speech becomes no text instead of the nearest")
    costs = parser.add_argument_group("costs", "in nats; each is explained in edge_asr/commands/graph.py")
    for name, value in asdict(Costs()).items():
        shown = f"{value}; with --words {WORD_LOOP_COSTS.token}" if name == "token" else value
        costs.add_argument(f"--{name.replace('_', '-')}-cost", type=float, help=f"(default {shown})")
    return parser.parse_args()


def costs_of(args: argparse.Namespace) -> Costs:
    given = {name: getattr(args, f"{name}_cost") for name in asdict(Costs())}
    default = WORD_LOOP_COSTS if args.words else Costs()
    return replace(default, **{name: value for name, value in given.items() if value is not None})


def expression_of(args: argparse.Namespace) -> Expression:
    text = (args.words or args.sentences or args.grammar).read_text(encoding="utf-8")
    if args.grammar:
        expression = read_jsgf(text)
    else:
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        expression = word_loop(lines) if args.words else sentences(lines)
    return or_any_speech(expression) if args.reject else expression


if __name__ == "__main__":
    main()
