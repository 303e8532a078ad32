"""Synthesise speech into shards: ``make_data.py DATA --assets ASSETS --engine kokoro --hours 1.5``.

Shards are as in ``corpus.py``. A finished shard is never touched again, so an interrupted run continues, and training
may begin on the shards that exist.
The seed of an utterance is its engine, set and shard number: the same command makes the same data.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import text
import voices
from corpus import write_shard

SHARD_UTTERANCES = 100

SAID = {"all": text.TRAINING, "short": text.SHORT}

SPEEDS = {"all": (0.8, 1.25), "short": (0.9, 1.7)}
"""Of the engine's own pace: a word by itself is often said in a third of a second."""


def trim(sound: voices.Float32Array) -> voices.Float32Array:
    """Cut silence to at most 50 ms on either side; empty when there is no speech."""
    loud = np.flatnonzero(np.abs(sound) > 0.01)
    if loud.size == 0:
        return sound[:0]
    return sound[max(0, loud[0] - 800) : loud[-1] + 800]


def speak(
    engine: voices.Synthesiser, part: str, said: str, seed: str
) -> Iterator[tuple[str, str, voices.Float32Array]]:
    """The utterances of one shard: label, voice and samples; those without speech are left out."""
    draw = random.Random(seed)  # noqa: S311 - repeatable, not secret
    pool = engine.voices if part == "train" else engine.held_out
    source = text.sentences(SAID[said] if part == "train" else text.TEST, seed)
    for spoken in islice(source, SHARD_UTTERANCES):
        voice = draw.choice(pool)
        speed = draw.uniform(*SPEEDS[said]) if part == "train" else 1.0
        sound = trim(engine.say(spoken, voice, speed, draw.randrange(1 << 30)))
        if sound.size < 2400:
            continue
        gain = 10 ** (draw.uniform(-12, 0) / 20) * 0.9 / float(np.abs(sound).max())
        yield text.label(spoken), voice, sound * gain


def shard_seconds(listing: Path) -> float:
    rows = map(json.loads, listing.read_text(encoding="ascii").splitlines())
    return sum(row["samples"] for row in rows) / voices.RATE_HZ


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--assets", type=Path, required=True, help="folder with kokoro.onnx and voices/")
    parser.add_argument("--engine", required=True, choices=["kokoro", "hibari", "piper", "espeak", "flite", "festival"])
    parser.add_argument("--part", choices=["train", "test"], default="train")
    parser.add_argument("--hours", type=float, required=True, help="stop when this many hours of speech exist")
    parser.add_argument("--limit-minutes", type=float, default=1e9, help="or when this much time has passed")
    parser.add_argument("--said", choices=sorted(SAID), default="all", help="short: digits and words alone")
    parser.add_argument("--worker", default="0/1", help="I/N: make every N-th shard, beginning with I")
    args = parser.parse_args()
    args.data.mkdir(parents=True, exist_ok=True)
    first, step = map(int, args.worker.split("/"))
    engine = voices.synthesisers(args.assets)[args.engine]()
    began, seconds, number = time.monotonic(), 0.0, first
    while seconds * step < args.hours * 3600 and time.monotonic() - began < args.limit_minutes * 60:
        name = f"{args.engine}-{args.part}-{'' if args.said == 'all' else args.said}{number:04d}"
        listing = args.data / f"{name}.jsonl"
        if listing.exists():
            seconds += shard_seconds(listing)
        else:
            samples = write_shard(args.data / name, speak(engine, args.part, args.said, seed=name))
            seconds += samples / voices.RATE_HZ
        number += step
        print(f"{name} {seconds / 3600:.2f} h {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
