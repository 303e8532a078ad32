"""Orders of coffee by real people as shards: ``people.py DATA BARISTA``.

BARISTA is the folder of Picovoice's speech-to-intent recordings (Apache-2.0): sound, ``labels.json`` with the slots of
each order, and ``grammar.yaml``. Nobody wrote down the words, so Moonshine hears each recording under that grammar
(``edge-asr models pull moonshine-tiny-en`` first), and a recording is taken where every slot comes out as labelled.
Of the names in alphabetical order the second, fourth, … are for training and the others for tests (``--every 2`` of the
tools that measure with them); they do not tell the speakers, so that most voices are in both.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile
import text
from corpus import Float32Array, write_shard
from make_data import trim

ENGINE = "people"
MODEL = "moonshine-tiny-en"


def spoken_orders(folder: Path) -> Iterator[tuple[Path, str]]:
    """Recordings whose slots are heard as labelled, with the words of the order."""
    labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    command = ["edge-asr", "transcribe", "-m", MODEL, "--format", "jsonl", "--commands", str(folder / "grammar.yaml")]
    heard = subprocess.run(
        [*command, *sorted(labels)], cwd=folder, check=True, stdout=subprocess.PIPE, encoding="utf-8"
    ).stdout
    for transcript in map(json.loads, heard.splitlines()):
        slots = _with_single_spaces(labels[transcript["file"]]["slots"])
        found = [segment for segment in transcript["segments"] if segment.get("intent")]
        if len(found) == 1 and _with_single_spaces(found[0]["slots"]) == slots:
            yield folder / transcript["file"], text.label(found[0]["text"])


def _with_single_spaces(slots: dict[str, str]) -> dict[str, str]:
    return {name: " ".join(value.split()) for name, value in slots.items()}


def _sound(path: Path) -> Float32Array:
    sound, rate_hz = soundfile.read(path, dtype="float32")
    if rate_hz != 16_000 or sound.ndim != 1:
        sys.exit(f"{path} is {rate_hz} Hz, {sound.ndim} channels; 16 kHz mono is expected")
    return np.asarray(sound, np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("barista", type=Path)
    args = parser.parse_args()
    args.data.mkdir(parents=True, exist_ok=True)
    orders = dict(spoken_orders(args.barista))
    names = sorted(json.loads((args.barista / "labels.json").read_text(encoding="utf-8")))
    paths = [args.barista / name for name in names]
    for first, part in enumerate(("test", "train")):
        chosen = [(path, orders[path]) for path in paths[first::2] if path in orders]
        write_shard(
            args.data / f"{ENGINE}-{part}-0000", ((words, "person", trim(_sound(path))) for path, words in chosen)
        )
        print(f"{part}: {len(chosen)} orders")


if __name__ == "__main__":
    main()
