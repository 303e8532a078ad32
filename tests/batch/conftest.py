"""Recordings that a scripted engine reads like commands, and what a batch of them is heard with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import soundfile

from edge_asr.batch.messages import Order
from edge_asr.batch.recordings import Recording
from edge_asr.settings import Settings
from edge_asr.workers.configuration import pack
from tests.workers import scripted

MakeRecording = Callable[..., Recording]


@pytest.fixture
def make_recording(tmp_path: Path) -> MakeRecording:
    """A recording of 100 ms steps: silence says nothing, ``scripted.WORD`` a word, ``scripted.DIE`` ends the worker."""

    def make(name: str, *amplitudes: float) -> Recording:
        path = tmp_path / "recordings" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, scripted.samples(*(amplitudes or (scripted.WORD,))), scripted.RATE_HZ)
        return Recording(path, name)

    return make


@pytest.fixture
def order(tmp_path: Path) -> Order:
    directory = tmp_path / "model"
    directory.mkdir()
    return Order(configure=pack(directory, Settings(), None), model="scripted", digests={}, version="1", channel="mix")
