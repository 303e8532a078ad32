"""Smart-home commands that nobody has recorded: drawn from home-assistant-intents, spoken by held-out voices.

::

    python tools/smart_home.py draw 120 > sentences.json     # where edge-asr and home-assistant-intents are installed
    python tools/smart_home.py say sentences.json HOME       # in the environment of tools/starter (install.py)
    python tools/smart_home.py closed > closed.json          # the package's sentences without those of any words
    python tools/smart_home.py names 1000 > names.yaml       # so many devices more, for a set of commands

``draw`` walks through the templates at random, with the entities of ``tools/grammars/home.yaml``, and writes texts with
their intent and slots. ``say`` lets the voices that tools/starter keeps for tests speak them, one after the other, into
``HOME/*.wav`` and ``HOME/labels.json``, which tools/commands_accuracy.py reads.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from home_sentences import command_files, english_sentences, more_names, without_wildcards

if TYPE_CHECKING:
    from edge_asr.commands.network import Network

SEED = 8
FEWEST_WORDS, MOST_WORDS = 2, 12
SILENCE_S = 0.3
"""Before and behind each sentence, as a microphone hears it that was there before somebody spoke."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    drawing = actions.add_parser("draw")
    drawing.add_argument("count", type=int)
    actions.add_parser("closed")
    actions.add_parser("names").add_argument("count", type=int)
    saying = actions.add_parser("say")
    saying.add_argument("sentences", type=Path)
    saying.add_argument("folder", type=Path)
    saying.add_argument("--assets", type=Path, help="folder of tools/starter/install.py; without it Piper speaks alone")
    options = parser.parse_args()
    if options.action == "draw":
        json.dump(list(draw(options.count)), sys.stdout, indent=1)
    elif options.action == "closed":
        json.dump(without_wildcards(english_sentences()), sys.stdout)
    elif options.action == "names":
        json.dump({"lists": {"name": {"values": list(more_names(options.count))}}}, sys.stdout, indent=1)
    else:
        say(json.loads(options.sentences.read_text(encoding="utf-8")), options.folder, options.assets)


def draw(count: int) -> Iterator[dict[str, object]]:
    """Sentences with what they mean, none twice."""
    from edge_asr.commands.interpretation import interpret
    from edge_asr.commands.templates import read_templates

    sentences = english_sentences()
    del sentences["skip_words"]  # nobody strings as many of them together as chance does
    commands = read_templates(command_files(sentences))
    chance = random.Random(SEED)  # noqa: S311  no secret
    known: set[str] = set()
    while len(known) < count:
        text = walk(commands.network, chance)
        command = interpret(commands.network, text)
        if command and text not in known and FEWEST_WORDS <= len(text.split()) <= MOST_WORDS:
            known.add(text)
            yield {"text": text, "intent": command.intent, "slots": command.slots}


def walk(network: Network, chance: random.Random) -> str:
    """A sentence at random; empty where the walk meets a wildcard, which has no words of its own."""
    letters: list[str] = []
    node = network.parts[0].start
    stack: list[tuple[int, int]] = []  # end of the part, and where to go on behind it
    end = network.parts[0].end
    while node != end or stack:
        if node == end:
            node, end = stack.pop()
            continue
        ways = [
            *((target, letter) for letter, targets in network.letters[node].items() for target in targets),
            *((target, "") for target, _ in network.jumps[node]),
            *((call, "") for call in network.calls[node]),
        ]
        if not ways or node in network.wild:
            return ""
        target, letter = chance.choice(ways)
        letters.append(letter)
        if isinstance(target, int):
            node = target
        else:
            stack.append((target.after, end))
            node, end = network.parts[target.part].start, network.parts[target.part].end
    return " ".join("".join(letters).split())


def say(sentences: list[dict[str, object]], folder: Path, assets: Path | None) -> None:
    """Speak sentences, the voices taking turns."""
    import numpy as np
    import soundfile

    sys.path.append(str(Path(__file__).resolve().parent / "starter"))
    from voices import RATE_HZ, Kokoro, Piper

    engines = [Piper(), *([Kokoro(assets)] if assets else [])]
    turns = [(engine, voice) for engine in engines for voice in engine.held_out]
    folder.mkdir(parents=True, exist_ok=True)
    labels = {}
    for number, sentence in enumerate(sentences):
        engine, voice = turns[number % len(turns)]
        name = f"{number:04}-{voice}.wav"
        sound = engine.say(str(sentence["text"]), voice, 1.0, number)
        soundfile.write(folder / name, np.pad(sound, round(SILENCE_S * RATE_HZ)), RATE_HZ)
        labels[name] = sentence
    (folder / "labels.json").write_text(json.dumps(labels, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
