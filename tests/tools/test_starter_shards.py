"""Shards of speech that the starter model is trained on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tools.starter.corpus import Float32Array, utterances, write_shard

Spoken = tuple[str, str, Float32Array]


def spoken(text: str, level: float, samples: int) -> Spoken:
    return text, "voice", np.full(samples, level, np.float32)


def interrupted() -> Iterator[Spoken]:
    yield spoken("three", 0.25, 4)
    raise KeyboardInterrupt


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    written = write_shard(tmp_path / "flite-train-0000", [spoken("one", 0.5, 3), spoken("two", -1.0, 5)])
    (found,) = utterances(tmp_path, "train").values()
    assert written == 8
    assert [(row.text, row.voice, row.sound().size) for row in found] == [("one", "voice", 3), ("two", "voice", 5)]
    assert found[0].sound() == pytest.approx(0.5, abs=1e-4)
    assert found[1].sound() == pytest.approx(-1.0, abs=1e-4)


def test_a_shard_that_was_interrupted_does_not_count(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_shard(tmp_path / "flite-train-0000", interrupted())
    assert not utterances(tmp_path, "train")


def test_an_interruption_leaves_no_listing_of_the_sound_that_was_there_before(tmp_path: Path) -> None:
    write_shard(tmp_path / "people-train-0000", [spoken("one", 0.5, 3)])
    with pytest.raises(KeyboardInterrupt):
        write_shard(tmp_path / "people-train-0000", interrupted())
    assert not utterances(tmp_path, "train")
