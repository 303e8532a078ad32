"""The shards that ``make_data.py`` wrote, as utterances to draw from."""

from __future__ import annotations

import json
from collections import defaultdict
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


@cache
def _pcm(shard: Path) -> np.memmap:
    return np.memmap(shard.with_suffix(".pcm"), dtype="<i2", mode="r")


@cache
def _listing(shard: Path) -> tuple[Utterance, ...]:
    rows = (json.loads(line) for line in shard.open(encoding="ascii"))
    return tuple(Utterance(shard=shard, **row) for row in rows)


def utterances(folder: Path, part: str) -> dict[str, list[Utterance]]:
    """The finished shards of a part (``train`` or ``test``), by engine; call again to see new ones."""
    found: dict[str, list[Utterance]] = defaultdict(list)
    for shard in sorted(folder.glob(f"*-{part}-*.jsonl")):
        found[shard.name.split("-")[0]] += _listing(shard)
    return dict(found)
