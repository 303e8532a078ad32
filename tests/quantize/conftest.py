"""Kilobyte models that the engine really loads, and recordings they understand."""

from __future__ import annotations

from pathlib import Path

import pytest
import soundfile

from edge_asr.manifest import MANIFEST_FILE, format_manifest
from edge_asr.quantize.decoding import Candidate, judging_settings
from edge_asr.quantize.evaluation_set import EvaluationSet, read_evaluation_set
from edge_asr.settings import Settings
from tests.support.syllables import syllables
from tests.support.tiny_models import tiny_manifest, write_lstm_transducer

RATE_HZ = 16_000
SETTINGS = judging_settings(Settings())


def tiny_model(directory: Path) -> Candidate:
    """An LSTM transducer of some kilobytes."""
    manifest = tiny_manifest("lstm-transducer", write_lstm_transducer(directory))
    (directory / MANIFEST_FILE).write_text(format_manifest(manifest))
    return Candidate(manifest, directory)


def write_recordings(folder: Path, count: int, text: str = "one two three") -> Path:
    """A manifest of noises like syllables, of different length."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["audio\ttext"]
    for number in range(count):
        samples = syllables(RATE_HZ // 2 + 160 * number, RATE_HZ, 0.1, seed=number)
        soundfile.write(folder / f"{number}.flac", samples, RATE_HZ)
        lines.append(f"{number}.flac\t{text}")
    path = folder / "manifest.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def candidate(tmp_path: Path) -> Candidate:
    return tiny_model(tmp_path / "model")


@pytest.fixture
def evaluation(tmp_path: Path) -> EvaluationSet:
    return read_evaluation_set(write_recordings(tmp_path / "audio", 8), "en")
