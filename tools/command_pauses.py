"""How long sessions that are under way wait while the commands of another one are made ready.

::

    python -m tools.command_pauses                          # for models that write what they hear
    python -m tools.command_pauses -m moonshine-tiny-en     # for one that is decoded under a constraint

A session brings Home Assistant's sentences (``home-assistant-intents``), the entities of ``tools/grammars/home.yaml``
and ``--names`` made-up ones. While the set is made ready on one thread, as in the worker, another wants to go on every
millisecond. Prints the processor time of the making, and the longest time that the other thread had to wait: processor
time of the process too, so that other programs do not count.
"""

from __future__ import annotations

import argparse
import json
import random
import threading
import time

import yaml

from edge_asr.cli.stores import open_store
from edge_asr.commands.book import CommandBook, ListenerMaker, constrained, nearest
from edge_asr.engines.base64_vocabulary import read_vocabulary
from edge_asr.settings import CommandSettings
from tools.home_sentences import HOME, english_sentences

SYLLABLES = ("ba", "ke", "li", "mo", "nu", "ra", "si", "to", "ve", "da")
TABLES = ("intents", "lists", "expansion_rules")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", help="store name of a model that is decoded under a constraint")
    parser.add_argument("--names", type=int, default=1000, metavar="N", help="made-up names in the set (1000)")
    options = parser.parse_args()
    text = templates(options.names)
    book = CommandBook(maker(options.model), {})
    pauses: list[float] = []
    is_over, has_begun = threading.Event(), threading.Event()

    def go_on() -> None:
        before_s = time.process_time()
        while not is_over.is_set():
            has_begun.set()
            time.sleep(0.001)
            now_s = time.process_time()
            pauses.append(now_s - before_s)
            before_s = now_s

    other = threading.Thread(target=go_on)
    other.start()
    has_begun.wait()
    began_s = time.process_time()
    book.prepare(text)
    took_s = time.process_time() - began_s
    is_over.set()
    other.join()
    print(json.dumps({"made_ready_s": round(took_s, 2), "longest_pauses_ms": longest(pauses)}))


def longest(pauses: list[float]) -> list[float]:
    """The longest few, in milliseconds."""
    return [round(pause * 1000, 1) for pause in sorted(pauses, reverse=True)[:5]]


def maker(name: str | None) -> ListenerMaker:
    """How a model listens."""
    if name is None:
        return nearest(CommandSettings())
    model = open_store().resolve(name)
    return constrained(
        lambda: read_vocabulary(model.directory / model.manifest.files["tokens"].path, name), CommandSettings()
    )


def templates(names: int) -> str:
    """Home Assistant's sentences with everything they may be about, as one text."""
    merged = english_sentences()
    home = yaml.safe_load(HOME.read_text(encoding="utf-8"))
    for table in TABLES:
        merged.setdefault(table, {}).update(home.get(table, {}))
    chance = random.Random(1)  # noqa: S311  no secret
    made_up = [" ".join("".join(chance.choices(SYLLABLES, k=3)) for _ in range(2)) for _ in range(names)]
    merged["lists"]["name"]["values"] += made_up
    return json.dumps(merged)


if __name__ == "__main__":
    main()
