"""Synthesise speech into shards: ``make_data.py DATA --assets ASSETS --engine kokoro --hours 1.5``.

A shard is a pair of files: ``kokoro-train-0003.pcm`` (16-bit mono, 16 kHz, utterances one after another) and
``kokoro-train-0003.jsonl`` (a line an utterance: label, voice, offset and length in samples). A finished shard is
never touched again, so an interrupted run continues, and training may begin on the shards that exist.
The seed of an utterance is its engine, set and shard number: the same command makes the same data.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

import numpy as np
import text
import voices

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


def make_shard(engine: voices.Synthesiser, part: str, said: str, stem: Path, utterances: int) -> float:
    """Write one shard; returns its seconds of speech. The ``.jsonl`` appears last, when all is complete."""
    seed = stem.name
    draw = random.Random(seed)  # noqa: S311 - repeatable, not secret
    pool = engine.voices if part == "train" else engine.held_out
    source = text.sentences(SAID[said] if part == "train" else text.TEST, seed)
    lines, total = [], 0
    with stem.with_suffix(".pcm").open("wb") as pcm:
        for _ in range(utterances):
            spoken, voice = next(source), draw.choice(pool)
            speed = draw.uniform(*SPEEDS[said]) if part == "train" else 1.0
            sound = trim(engine.say(spoken, voice, speed, draw.randrange(1 << 30)))
            if sound.size < 2400:
                continue
            gain = 10 ** (draw.uniform(-12, 0) / 20) * 0.9 / float(np.abs(sound).max())
            pcm.write((sound * gain * 32767).astype("<i2").tobytes())
            lines.append({"text": text.label(spoken), "voice": voice, "offset": total, "samples": sound.size})
            total += sound.size
    unfinished = stem.with_suffix(".part")
    unfinished.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")
    unfinished.rename(stem.with_suffix(".jsonl"))
    return total / voices.RATE_HZ


def shard_seconds(listing: Path) -> float:
    return sum(json.loads(line)["samples"] for line in listing.open(encoding="ascii")) / voices.RATE_HZ


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
            seconds += make_shard(engine, args.part, args.said, args.data / name, SHARD_UTTERANCES)
        number += step
        print(f"{name} {seconds / 3600:.2f} h {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
