from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from edge_asr.workload import bundled_clips
from tools.peers_bench.capacity import script_of
from tools.peers_bench.recordings import PAUSE_S, PIECE_SAMPLES, Recording, joined, pieces, prepare


def test_the_bundled_clips_become_wav_files_of_the_same_samples(tmp_path: Path) -> None:
    for recording in prepare(bundled_clips(), tmp_path):
        with wave.open(str(recording.path)) as file:
            assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
            assert np.array_equal(np.frombuffer(file.readframes(file.getnframes()), "<i2"), recording.samples)
        assert recording.reference


def recordings(tmp_path: Path, *lengths: int) -> list[Recording]:
    return [
        Recording(f"r{number}", tmp_path / "x.wav", np.full(length, number + 1, np.int16), f"word{number}")
        for number, length in enumerate(lengths)
    ]


def test_joined_recordings_are_whole_rounds_with_pauses(tmp_path: Path) -> None:
    long = joined(recordings(tmp_path, 16_000, 8_000), 4.0, tmp_path, seed=0)
    assert long.audio_s == pytest.approx(2 * (1.5 + 2 * PAUSE_S))
    assert [np.count_nonzero(long.samples == value) for value in (1, 2)] == [2 * 16_000, 2 * 8_000]


def test_the_order_follows_the_seed(tmp_path: Path) -> None:
    parts = recordings(tmp_path, *range(1000, 1020))
    first, again, other = (joined(parts, 1.0, tmp_path, seed=seed).samples for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_recordings_in_a_row_are_cut_without_regard_to_where_one_ends(tmp_path: Path) -> None:
    """Else the number of a piece would not tell which audio it is, and the steps after it would seem late."""
    parts = recordings(tmp_path, 2_000, 1_700, 300)
    cut = list(pieces(parts))
    assert [len(piece) for piece in cut] == [PIECE_SAMPLES, PIECE_SAMPLES, 800]
    assert np.array_equal(np.concatenate(cut), np.concatenate([part.samples for part in parts]))


def test_a_stream_says_recordings_from_its_place_on_until_its_time_is_over(tmp_path: Path) -> None:
    script = script_of(recordings(tmp_path, 16_000, 8_000, 64_000), first=1, seconds=2.5)
    assert [(part.name, len(part.samples)) for part in script] == [("r1", 8_000), ("r2", 32_000)]
