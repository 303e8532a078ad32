"""The page in a browser, before a real daemon with the bundled model."""

from __future__ import annotations

import wave
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.sources.file import open_file
from tests.sources.conftest import read_all, s16le
from tests.support.browser import EXECUTABLE, Browser
from tests.support.daemon import CLIPS, DaemonProcess

SENTENCES = (
    ("turn-on-the-lights-emma", "turn on the lights"),
    ("set-the-temperature-to-joe", "set the temperature to twenty five percent"),
    ("what-is-the-weather-joe", "what is the weather"),
)
"""Clips of the package and what is said in them; the bundled model hears them right."""

RATE_HZ = 16_000
PAUSE_S = 1.8
"""Longer than the silence that ends a sentence."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skip = pytest.mark.skip(reason="Chromium is not installed (apt install chromium)")
    for item in items:
        if EXECUTABLE is None and "tests/page/" in str(item.path):
            item.add_marker(skip)


def spoken(sentences: Sequence[tuple[str, str]] = SENTENCES) -> Float32Array:
    """The sentences, each followed by a pause."""
    pause = np.zeros(round(PAUSE_S * RATE_HZ), np.float32)
    return np.concatenate([part for clip, _ in sentences for part in (read_all(open_file(_path(clip))), pause)])


def _path(clip: str) -> Path:
    return CLIPS / f"{clip}.flac"


@pytest.fixture(scope="session")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A WAV file of all sentences."""
    path = tmp_path_factory.mktemp("speech") / "speech.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(s16le(spoken()))
    return path


@pytest.fixture(scope="session")
def daemon() -> Iterator[DaemonProcess]:
    with DaemonProcess("-m", "starter-en") as process:
        yield process


@pytest.fixture
def browser(speech: Path) -> Iterator[Browser]:
    """A browser of its own, whose microphone hears the speech once."""
    with Browser(speech) as opened:
        yield opened


@pytest.fixture(scope="session")
def _one_for_all() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


@pytest.fixture
def reader(_one_for_all: Browser) -> Browser:
    """A browser for what needs no microphone; the same for all tests, each of which opens the page anew."""
    _one_for_all.complaints.clear()
    _one_for_all.prefer()
    _one_for_all.resize(1280, 900)
    return _one_for_all
