from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.audio import AudioChunk
from edge_asr.requests import SessionOptions
from edge_asr.sessions.intake import Intake

RISING = np.arange(400, dtype="<i2")
S16 = np.column_stack((RISING, -RISING)).ravel()  # without an offset


def test_bytes_become_samples_at_the_engines_rate() -> None:
    chunk = Intake(SessionOptions(), 16_000).take_bytes(S16.tobytes(), 7)
    assert chunk.samples.tolist() == (S16 / 32768).tolist()
    assert (chunk.sample_rate_hz, chunk.start_sample, chunk.captured_ns) == (16_000, 0, 7)


@given(st.lists(st.integers(0, 300), max_size=10))
def test_odd_cuts_lose_nothing(cuts: list[int]) -> None:
    intake, data, out = Intake(SessionOptions(), 16_000), S16.tobytes(), []
    for cut in cuts:
        out.append(intake.take_bytes(data[:cut], 1).samples)
        data = data[cut:]
    out.append(intake.take_bytes(data, 1).samples)
    assert np.concatenate(out).tolist() == (S16 / 32768).tolist()


def test_another_rate_is_resampled_to_the_same_duration() -> None:
    intake = Intake(SessionOptions(sample_rate_hz=48_000), 16_000)
    pieces = [intake.take_bytes(bytes(9600), 1) for _ in range(10)]
    pieces.append(intake.end())
    assert sum(len(piece.samples) for piece in pieces) == 16_000
    assert [piece.start_sample for piece in pieces] == list(np.cumsum([0, *[len(p.samples) for p in pieces[:-1]]]))


def test_a_source_says_its_own_rate_and_gaps_are_scaled() -> None:
    intake = Intake(SessionOptions(), 16_000)
    chunk = intake.take_chunk(AudioChunk(np.zeros(480, np.float32), 48_000, 0, 3, gap_samples=300))
    assert (chunk.sample_rate_hz, chunk.gap_samples, chunk.start_sample) == (16_000, 100, 100)


def test_a_rate_that_changes_is_refused() -> None:
    intake = Intake(SessionOptions(), 16_000)
    intake.take_chunk(AudioChunk(np.zeros(10, np.float32), 48_000, 0, 3))
    with pytest.raises(ValueError, match="audio at 44100 Hz in a session at 48000 Hz"):
        intake.take_chunk(AudioChunk(np.zeros(10, np.float32), 44_100, 10, 3))


def test_one_bad_sample_does_not_spread_through_the_resampler() -> None:
    intake = Intake(SessionOptions(), 16_000)
    samples = np.full(4800, 0.5, np.float32)
    samples[2400] = np.nan
    out = np.concatenate([intake.take_chunk(AudioChunk(samples, 48_000, 0, 1)).samples, intake.end().samples])
    assert np.isfinite(out).all()
    (finding,) = intake.take_findings()
    assert (finding.code, finding.count) == ("samples_replaced", 1)
    assert not intake.take_findings()


def test_what_the_front_holds_back_comes_out_at_the_end() -> None:
    intake = Intake(SessionOptions(), 16_000)
    assert not len(intake.take_bytes(S16[:100].tobytes(), 1).samples)
    assert intake.end().samples.tolist() == (S16[:100] / 32768).tolist()


def test_audio_without_samples_ends_without_samples() -> None:
    assert not len(Intake(SessionOptions(), 16_000).end().samples)


@pytest.mark.parametrize("sent", [0, 101, 640, 1001])
def test_at_equal_rates_it_is_known_how_many_bytes_make_so_many_samples(sent: int) -> None:
    intake = Intake(SessionOptions(), 16_000)
    given_before = len(intake.take_bytes(bytes(sent), 1).samples)
    needed = intake.bytes_until(1000) - sent
    before, last = intake.take_bytes(bytes(needed - 1), 1), intake.take_bytes(b"\0", 1)
    assert given_before + len(before.samples) < given_before + 1000
    assert len(before.samples) + len(last.samples) == 1000


@pytest.mark.parametrize("rate_hz", [8_000, 44_100, 48_000])
def test_a_resampler_never_needs_fewer_bytes_than_were_foretold(rate_hz: int) -> None:
    intake = Intake(SessionOptions(sample_rate_hz=rate_hz), 16_000)
    sent = 0
    for _ in range(50):
        needed = max(0, intake.bytes_until(800) - sent - 2)
        assert len(intake.take_bytes(bytes(needed), 1).samples) < 800
        intake.take_bytes(bytes(2 * rate_hz // 100), 1)
        sent += needed + 2 * rate_hz // 100
