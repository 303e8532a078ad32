"""How well a streaming CTC model hears real people under a decoding graph, and what the graph lets through.

::

    EDGE_ASR_DATA=DATA python tools/grammar_accuracy.py digits     # single digits, four speakers, 8 kHz
    EDGE_ASR_DATA=DATA python tools/grammar_accuracy.py barista    # coffee orders: is every slot right?
    EDGE_ASR_DATA=DATA python tools/grammar_accuracy.py digits --token-cost -4 --any-token-cost 2 3 4

Rows: decoding without a graph, with a graph that cannot reject, and with one for each ``--any-token-cost``. Columns:
of the recordings inside the grammar, how many per cent come out right, wrong, and as nothing; of those outside it, how
many come out as a sentence. Outside are the other recordings of DATA and the telephone prompts of Debian's
asterisk-core-sounds-en packages (left out, and said so, where they are not installed).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import soundfile
import soxr
from prompts import SOUNDS, TRANSCRIPTS, load_prompts

from edge_asr.audio import Float32Array
from edge_asr.commands.grammar import Expression, or_any_speech
from edge_asr.commands.graph import Costs, build_language
from edge_asr.commands.jsgf import read_jsgf
from edge_asr.commands.spelling import read_speller
from edge_asr.engines.base import Engine, StreamOptions
from edge_asr.engines.registry import load_engine
from edge_asr.manifest import read_manifest
from edge_asr.settings import EngineSettings

GRAMMARS = Path(__file__).resolve().parent / "grammars"
STARTER = Path(__file__).resolve().parent.parent / "models" / "starter-en"
RATE_HZ = 16_000

Meaning = tuple[str, ...]
"""What is to be understood; nothing when it is empty."""


class Task(Protocol):
    """Recordings and the grammar of what is said in them."""

    grammar: str

    def clips(self, data: Path) -> list[Clip]: ...

    def understand(self, text: str) -> Meaning: ...


@dataclass(frozen=True, slots=True)
class Clip:
    """A recording and what is to be understood in it."""

    path: Path
    meaning: Meaning = ()


class Digits:
    """One digit a recording, named ``{digit}_{speaker}_{n}.wav``; "oh" is a zero."""

    grammar = "digit.jsgf"
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

    def clips(self, data: Path) -> list[Clip]:
        paths = sorted((data / "digits").glob("*_*_*.wav"), key=lambda path: (int(path.stem.split("_")[2]), path.stem))
        return [Clip(path, (self.words[int(path.stem[0])],)) for path in paths]

    def understand(self, text: str) -> Meaning:
        return tuple("zero" if word == "oh" else word for word in text.split())


class Barista:
    """Orders of coffee with the slots of each in ``labels.json``."""

    grammar = "barista.jsgf"
    _amounts = "a bit of|a little bit of|a lot of|lots of|some"
    _slots = re.compile(
        rf"\b(?:(?P<milkAmount>(?:(?:{_amounts}) )?(?:(?:almond |skim |soy |whole )?milk|cream))"
        rf"|(?P<sugarAmount>(?:(?:{_amounts}) )?(?:(?:brown )?sugar|sweetener))"
        r"|(?P<roast>(?:dark|light|medium) roast)|(?P<size>(?:eight|twelve|sixteen|twenty) ounce|small|medium|large)"
        r"|(?P<numberOfShots>(?:single|double|triple) shot)"
        r"|(?P<coffeeDrink>(?:house |drip |iced )?coffee|(?:iced )?mocha|americano|cappuccino|espresso|latte))\b"
    )

    def clips(self, data: Path) -> list[Clip]:
        path = data / "barista" / "labels.json"
        labels = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return [Clip(path.parent / name, _sorted(label["slots"].items())) for name, label in sorted(labels.items())]

    def understand(self, text: str) -> Meaning:
        """The slots of a sentence, also of one that was heard without a grammar."""
        return _sorted((str(found.lastgroup), found.group()) for found in self._slots.finditer(text))


def _sorted(slots: Iterable[tuple[str, str]]) -> Meaning:
    return tuple(sorted(f"{name}: {' '.join(value.split())}" for name, value in slots))


TASKS: dict[str, Task] = {"digits": Digits(), "barista": Barista()}


class Recogniser:
    """A model under one way of decoding."""

    def __init__(self, model: Path, graph: Path | None) -> None:
        settings = EngineSettings(graph=str(graph)) if graph else EngineSettings(use_graph=False)
        self._engine: Engine = load_engine(model, read_manifest(model / "manifest.toml"), settings)

    def text(self, samples: Float32Array) -> str:
        """A recording as one segment."""
        stream = self._engine.open_stream(StreamOptions())
        stream.accept(samples)
        stream.finish()
        while stream.is_ready():
            self._engine.decode([stream])
        text = stream.hypothesis().text
        stream.close()
        return text.lower()


def main() -> None:
    options = arguments()
    task = TASKS[options.task]
    data = Path(os.environ.get("EDGE_ASR_DATA") or sys.exit("set EDGE_ASR_DATA to the folder of barista/ and digits/"))
    inside = task.clips(data)[:: options.every]
    if not inside:
        sys.exit(
            f"{data} has no recordings for {options.task}; set EDGE_ASR_DATA to the folder of barista/ and digits/"
        )
    outside = list(others(task, data))[:: options.every]
    sounds = {clip.path: samples(clip.path) for clip in (*inside, *outside)}
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, graph in graphs(task, options, Path(folder)):
            rows[name] = measure(task, Recogniser(options.model, graph), inside, outside, sounds)
            print(name, json.dumps(rows[name]), file=sys.stderr, flush=True)
    figures = {
        "task": options.task,
        "token_cost": options.token_cost,
        "any_speech_cost": options.any_speech_cost,
        "inside": len(inside),
        "outside": len(outside),
        "outside_hours": round(sum(len(sounds[clip.path]) for clip in outside) / RATE_HZ / 3600, 3),
        "rows": rows,
    }
    print(json.dumps(figures, indent=2))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--model", type=Path, default=STARTER, metavar="DIR")
    parser.add_argument("--grammar", type=Path, help="another JSGF grammar than tools/grammars has for the task")
    default = Costs()
    parser.add_argument("--token-cost", type=float, default=default.token)
    parser.add_argument("--any-speech-cost", type=float, default=default.any_speech)
    parser.add_argument("--any-token-cost", type=float, nargs="*", default=[default.any_token])
    parser.add_argument(
        "--every",
        type=int,
        default=1,
        metavar="N",
        help="only every Nth recording; an odd number of digits, whose four speakers take turns; 2 of the orders for "
        "those that starter-en was not trained on",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    args = parser.parse_args()
    if args.every < 1:
        parser.error(f"--every {args.every}: take 1 for every recording, or more")
    if args.task == "digits" and args.every % 2 == 0:
        parser.error(f"--every {args.every} would leave out whole speakers; take an odd number")
    return args


def others(task: Task, data: Path) -> Iterator[Clip]:
    """Recordings of speech outside the grammar."""
    for other in TASKS.values():
        if other is not task:
            yield from (Clip(clip.path) for clip in other.clips(data))
    if not (SOUNDS.exists() and TRANSCRIPTS.exists()):
        print("the telephone prompts are not installed; measured without them", file=sys.stderr)
        return
    for prompt in load_prompts(Path(tempfile.gettempdir()) / "edge-asr-prompts"):
        if not set(re.findall(r"[a-z']+", prompt.text.lower())) <= {*Digits.words, "oh"}:
            yield Clip(prompt.path)


def samples(path: Path) -> Float32Array:
    sound, rate_hz = soundfile.read(path, dtype="float32")
    resampled: Float32Array = sound if rate_hz == RATE_HZ else soxr.resample(sound, rate_hz, RATE_HZ)
    return resampled


def graphs(task: Task, options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Path | None]]:
    """Each way of decoding, with the file of its graph."""
    speller = read_speller(options.model / "bpe.model", options.model / "tokens.txt")
    grammar = read_jsgf((options.grammar or GRAMMARS / task.grammar).read_text(encoding="utf-8"))

    def written(name: str, expression: Expression, costs: Costs) -> tuple[str, Path]:
        path = folder / f"{name}.fst"
        build_language(expression, speller, costs).graph.write(path)
        return name, path

    yield "open", None
    yield written("no rejection", grammar, Costs(token=options.token_cost))
    for cost in options.any_token_cost:
        costs = Costs(token=options.token_cost, any_speech=options.any_speech_cost, any_token=cost)
        yield written(f"any token {cost:g}", or_any_speech(grammar), costs)


def measure(
    task: Task, recogniser: Recogniser, inside: list[Clip], outside: list[Clip], sounds: dict[Path, Float32Array]
) -> dict[str, Any]:
    """Per cent of the recordings."""
    heard = [(clip.meaning, recogniser.text(sounds[clip.path])) for clip in inside]
    right = sum(task.understand(text) == meaning for meaning, text in heard)
    nothing = sum(not text for _, text in heard)
    let_through = sum(bool(recogniser.text(sounds[clip.path])) for clip in outside)
    return {
        "right": _per_cent(right, len(inside)),
        "wrong": _per_cent(len(inside) - right - nothing, len(inside)),
        "nothing": _per_cent(nothing, len(inside)),
        "let_through": _per_cent(let_through, len(outside)),
    }


def _per_cent(part: int, whole: int) -> float:
    return round(100 * part / max(1, whole), 2)


if __name__ == "__main__":
    main()
