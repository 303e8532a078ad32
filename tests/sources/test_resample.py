"""Any cutting of the audio gives the same samples at the other rate, and as many as its duration is worth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.audio import Float32Array
from edge_asr.sources.resample import StreamResampler

RATES = st.sampled_from([8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000])


def noise(samples: int) -> Float32Array:
    return np.random.default_rng(7).uniform(-0.5, 0.5, samples).astype(np.float32)


def resampled(samples: Float32Array, cuts: list[int], from_hz: int, to_hz: int) -> Float32Array:
    resampler = StreamResampler(from_hz, to_hz)
    pieces = [resampler.process(piece) for piece in np.split(samples, sorted(cuts))]
    return np.concatenate([*pieces, resampler.flush()])


@given(RATES, RATES, st.lists(st.integers(0, 3000), max_size=12))
def test_any_cutting_gives_the_same_output(from_hz, to_hz, cuts) -> None:
    samples = noise(3000)

    assert np.array_equal(resampled(samples, cuts, from_hz, to_hz), resampled(samples, [], from_hz, to_hz))


@given(RATES, RATES, st.integers(0, 5000))
def test_as_many_samples_come_out_as_the_duration_is_worth(from_hz, to_hz, count) -> None:
    output = resampled(noise(count), [count // 3], from_hz, to_hz)

    assert abs(len(output) - round(count * to_hz / from_hz)) <= 1


def test_a_tone_keeps_its_pitch_and_place() -> None:
    times = np.arange(48_000) / 48_000
    output = resampled(np.sin(2 * np.pi * 440 * times).astype(np.float32), [1000, 20_000], 48_000, 16_000)

    expected = np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)
    assert np.max(np.abs(output - expected)[200:-200]) < 1e-3


def test_equal_rates_pass_the_array_on_untouched() -> None:
    samples = noise(100)
    resampler = StreamResampler(16_000, 16_000)

    assert resampler.process(samples) is samples
    assert len(resampler.flush()) == 0


def test_flushing_twice_gives_nothing_more() -> None:
    resampler = StreamResampler(48_000, 16_000)
    resampler.process(noise(4800))

    assert len(resampler.flush()) > 0
    assert len(resampler.flush()) == 0


def test_audio_after_the_flush_is_an_error() -> None:
    resampler = StreamResampler(48_000, 16_000)
    resampler.flush()

    with pytest.raises(RuntimeError, match="was flushed"):
        resampler.process(noise(1))


def test_a_rate_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="from 0 Hz to 16000 Hz"):
        StreamResampler(0, 16_000)
