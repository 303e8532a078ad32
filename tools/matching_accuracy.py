"""How well commands are matched to the text of a model that writes what it hears, and what else is taken for one.

::

    EDGE_ASR_DATA=DATA python tools/matching_accuracy.py -m models/starter-en-transducer
    EDGE_ASR_DATA=DATA python tools/matching_accuracy.py -m models/starter-en-transducer --boost 2 --every 8

Commands are the orders of coffee of DATA/barista, right when every slot is; anything else are the telephone prompts of
Debian's asterisk-core-sounds-en packages. Transducers are told to expect the words of the grammar (``--boost``),
except with ``--greedy``, where the grammar comes as one of a session. Recordings go through the model in whole.
Prints a table by ``commands.min_score``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from commands_accuracy import data, orders, samples
from prompts import load_prompts

from edge_asr.audio import Float32Array
from edge_asr.cli.stores import open_store
from edge_asr.commands.listening import Listening
from edge_asr.engines.base import StreamOptions
from edge_asr.settings import CommandSettings, Settings
from edge_asr.workers.configuration import pack
from edge_asr.workers.loaded_model import LoadedModel
from edge_asr.workers.loading import load_model

THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True, slots=True)
class Row:
    """What was made of one recording."""

    source: str
    duration_s: float
    score: float
    right_slots: int = 0
    slots: int = 0
    is_right: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", required=True, help="store name or directory")
    parser.add_argument("--boost", type=float, default=1.5, help="of the expected words (1.5)")
    parser.add_argument("--greedy", action="store_true", help="greedy search, which expects no words")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth recording (1)")
    options = parser.parse_args()
    grammar = data() / "barista" / "grammar.yaml"
    model = load(options, grammar)
    listening = model.listen(grammar.read_text(encoding="utf-8") if options.greedy else None)
    print_table(list(heard(model, listening, options.every)))


def load(options: argparse.Namespace, grammar: Path) -> LoadedModel:
    """The model, listening for any sentence at all: the table applies the thresholds."""
    engine = replace(Settings().engine, hotwords_score=options.boost)
    file = "" if options.greedy else str(grammar)
    settings = replace(Settings(), engine=engine, commands=CommandSettings(file, min_score=0.0))
    return load_model(pack(open_store().resolve(options.model).directory, settings, None))


def heard(model: LoadedModel, listening: Listening, every: int) -> Iterator[Row]:
    """Orders, then prompts."""
    for order in orders([], every):
        yield row("orders", model, listening, order.samples, order.slots or {})
    for prompt in load_prompts(Path(tempfile.gettempdir()) / "edge-asr-prompts")[::every]:
        yield row("prompts", model, listening, samples(prompt.path), {})


def row(source: str, model: LoadedModel, listening: Listening, sound: Float32Array, wanted: dict[str, Any]) -> Row:
    """One recording, as a session would hear it."""
    expected = model.expect([], listening.phrases)
    stream = model.engine.open_stream(StreamOptions(partials=False, is_batch=True, hotwords=expected.hotwords))
    stream.accept(sound)
    stream.finish()
    while stream.is_ready():
        model.engine.decode([stream])
    command = listening.conclude(listening.understand(stream.hypothesis())).command
    stream.close()
    slots = command.slots if command else {}
    right = sum(slots.get(slot) == value for slot, value in wanted.items())
    is_right = bool(wanted) and slots == wanted
    return Row(source, len(sound) / 16_000, command.score if command else 0.0, right, len(wanted), is_right)


def print_table(rows: list[Row]) -> None:
    orders = [each for each in rows if each.source == "orders"]
    others = [each for each in rows if each.source == "prompts"]
    hours = sum(each.duration_s for each in others) / 3600
    print(f"{len(orders)} orders; {len(others)} prompts, {hours:.2f} h")
    print(f"slots right: {100 * sum(each.right_slots for each in orders) / sum(each.slots for each in orders):.1f} %")
    print("| `min_score` | orders right % | taken with a wrong slot % | not taken % | prompts taken |")
    print("|---|---|---|---|---|")
    for threshold in THRESHOLDS:
        taken = [each for each in orders if each.score >= threshold]
        right = sum(each.is_right for each in taken)
        shares = [100 * count / len(orders) for count in (right, len(taken) - right, len(orders) - len(taken))]
        false = sum(each.score >= threshold for each in others)
        print(f"| {threshold} | {shares[0]:.1f} | {shares[1]:.1f} | {shares[2]:.1f} | {false} |")


if __name__ == "__main__":
    main()
