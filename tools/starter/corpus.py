"""Shards of labelled speech: written whole or not at all, and read as utterances to draw from.

A shard is a pair of files: ``kokoro-train-0003.pcm`` (16-bit mono, 16 kHz, utterances one after another) and
``kokoro-train-0003.jsonl`` (a line an utterance: label, voice, offset and length in samples).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Utterance:
    """One labelled stretch of a shard."""

    shard: Path
    text: str
    voice: str
    offset: int
    samples: int

    def sound(self) -> Float32Array:
        """16 kHz samples in [-1, 1]."""
        pcm = _pcm(self.shard)[self.offset : self.offset + self.samples]
        return pcm.astype(np.float32) / 32768.0


def write_shard(stem: Path, spoken: Iterable[tuple[str, str, Float32Array]]) -> int:
    """Write one shard, in place of what was there; one that is interrupted has no listing and does not count.

    Args:
        stem: Its files without their endings, as ``kokoro-train-0003``.
        spoken: Label, voice and 16 kHz samples in [-1, 1] of each utterance.

    Returns:
        How many samples there are.
    """
    sound_file, listing = stem.with_suffix(".pcm"), stem.with_suffix(".jsonl")
    listing.unlink(missing_ok=True)  # it tells of the sound that was there
    lines, total = [], 0
    with sound_file.open("wb") as pcm:
        for label, voice, sound in spoken:
            pcm.write((sound * 32767).astype("<i2").tobytes())
            lines.append({"text": label, "voice": voice, "offset": total, "samples": sound.size})
            total += sound.size
    unfinished = stem.with_suffix(".part")
    unfinished.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")
    unfinished.rename(listing)
    return total


@cache
def _pcm(shard: Path) -> npt.NDArray[np.int16]:
    return np.memmap(shard.with_suffix(".pcm"), dtype="<i2", mode="r")


@cache
def _listing(shard: Path) -> tuple[Utterance, ...]:
    rows = map(json.loads, shard.read_text(encoding="ascii").splitlines())
    return tuple(Utterance(shard=shard, **row) for row in rows)


def utterances(folder: Path, part: str) -> dict[str, list[Utterance]]:
    """The finished shards of a part (``train`` or ``test``), by engine; call again to see new ones."""
    found: dict[str, list[Utterance]] = defaultdict(list)
    for shard in sorted(folder.glob(f"*-{part}-*.jsonl")):
        found[shard.name.split("-")[0]] += _listing(shard)
    return dict(found)
