"""What it costs to look for the nearest sentence, once for each final of a model that writes what it hears.

::

    python -m tools.matching_time                 # Home Assistant's sentences and 1,000 made-up names
    python -m tools.matching_time grammar.yaml    # any other set

Prints milliseconds of processor time for texts of so many words: the median over the same words in other orders, since
what was found for a text is kept.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

from edge_asr.commands.nearest import NearestSentence
from edge_asr.commands.templates import read_templates
from edge_asr.commands.word_network import word_network
from tools.command_pauses import templates

TEXTS = (
    "turn on the chicken light",
    "set the bedroom tempature to twenty two degrees",
    "i was wondering if you could turn on the kitchen light and the living room lamp tonight because it is a dark day",
)
NAMES = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", help="sentence templates; without it Home Assistant's")
    options = parser.parse_args()
    text = options.file.read_text(encoding="utf-8") if options.file else templates(NAMES)
    network = read_templates({"set": text}).network
    nearest = NearestSentence(word_network(network), frozenset(network.fillers))
    for text in TEXTS:
        words = text.split()
        took_ms = [milliseconds(nearest, [*words[first:], *words[:first]]) for first in range(len(words))]
        print(json.dumps({"words": len(words), "search_ms": round(statistics.median(took_ms), 1)}))


def milliseconds(nearest: NearestSentence, words: list[str]) -> float:
    """Processor time of the process, so that other programs count as little as can be."""
    began_s = time.process_time()
    nearest.find(" ".join(words))
    return 1000 * (time.process_time() - began_s)


if __name__ == "__main__":
    main()
