from __future__ import annotations

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.engines.samples import window_levels_dbfs
from edge_asr.engines.vad import (
    WINDOW_SAMPLES,
    EnergyVoiceActivity,
    SileroVoiceActivity,
    VoiceActivity,
    load_silero,
)
from tests.support.engine_cases import clip, noise, silence
from tests.support.fetched_models import fetched_model

RATE = 16_000


def heard(activity: VoiceActivity, samples: Float32Array) -> list[bool]:
    """The detector's answer for each window."""
    levels = window_levels_dbfs(samples, WINDOW_SAMPLES)
    windows = samples[: len(levels) * WINDOW_SAMPLES].reshape(-1, WINDOW_SAMPLES)
    return [activity.hears_speech(window, float(level)) for window, level in zip(windows, levels, strict=True)]


def share(answers: list[bool]) -> float:
    return sum(answers) / len(answers)


class Network:
    """Stands in for the native network: hears what is loud, and counts how often it is asked."""

    def __init__(self, *, hears: bool = True) -> None:
        self.hears = hears
        self.windows: list[Float32Array] = []
        self.resets = 0

    def is_speech(self, samples: list[float]) -> bool:
        self.windows.append(np.asarray(samples, np.float32))
        return self.hears

    def reset(self) -> None:
        self.resets += 1


def syllables(duration_s: float, rms: float = 0.1) -> Float32Array:
    """Noise that is as loud as speech is: louder and quieter by 9 dB, five times a second."""
    samples = noise(duration_s, RATE, rms)
    times_s = np.arange(len(samples)) / RATE
    return (samples * (1 + 0.9 * np.sin(2 * np.pi * 5 * times_s))).astype(np.float32)


def coloured(duration_s: float, exponent: float, rms: float) -> Float32Array:
    """Noise whose power falls with the frequency to so much: 1 is pink, 2 brown."""
    spectrum = np.fft.rfft(noise(duration_s, RATE))
    spectrum[1:] /= np.arange(1, len(spectrum)) ** (exponent / 2)
    samples = np.fft.irfft(spectrum)
    return np.asarray(rms * samples / samples.std(), np.float32)


def test_energy_hears_sound_and_no_silence():
    activity = EnergyVoiceActivity()
    assert not any(heard(activity, silence(1, RATE)))
    assert share(heard(activity, syllables(1))) > 0.8
    assert not any(heard(activity, silence(1, RATE)))


@pytest.mark.parametrize("rms", [0.001, 0.02, 0.1])
@pytest.mark.parametrize("exponent", [0, 1, 2])
def test_energy_takes_steady_noise_of_any_colour_for_silence(rms: float, exponent: float):
    assert not any(heard(EnergyVoiceActivity(), coloured(4, exponent, rms)))


def test_energy_gets_used_to_a_noise():
    activity = EnergyVoiceActivity()
    faint = noise(1, RATE, rms=0.02) + syllables(1, rms=0.03)
    assert any(heard(activity, faint))
    heard(activity, noise(20, RATE, rms=0.02))
    assert not any(heard(activity, faint))


@pytest.mark.parametrize("seconds", [0.5, 20])
def test_energy_hears_speech_above_a_noise(seconds: float):
    activity = EnergyVoiceActivity()
    heard(activity, noise(seconds, RATE, rms=0.005))
    assert share(heard(activity, syllables(1, rms=0.2))) > 0.7


@pytest.mark.parametrize("name", ["five-five", "go-forward", "austen-0870"])
def test_energy_hears_nearly_all_that_is_loud_in_speech(name: str):
    answers = heard(EnergyVoiceActivity(), clip(name))
    levels = window_levels_dbfs(clip(name), WINDOW_SAMPLES)
    loud = [answer for answer, level in zip(answers, levels, strict=True) if level > levels.max() - 15]
    assert share(loud) > 0.95


def test_energy_forgets_the_stream_before():
    activity = EnergyVoiceActivity()
    first = heard(activity, syllables(20, rms=0.02))
    activity.reset()
    assert heard(activity, syllables(20, rms=0.02)) == first


def test_the_network_is_not_asked_about_silence():
    network = Network()
    assert not any(heard(SileroVoiceActivity(network), silence(2, RATE)))
    assert network.windows == []


def test_the_network_is_asked_about_every_window_of_a_live_stream():
    network = Network()
    heard(SileroVoiceActivity(network), noise(2, RATE))
    assert len(network.windows) == 62


def test_the_network_sees_the_end_of_the_window_before():
    network = Network()
    samples = noise(0.064, RATE)
    heard(SileroVoiceActivity(network), samples)
    assert np.array_equal(network.windows[0], np.concatenate([np.zeros(64), samples[:512]]))
    assert np.array_equal(network.windows[1], samples[448:1024])


def test_trusted_speech_is_asked_about_now_and_then():
    network = Network()
    answers = heard(SileroVoiceActivity(network, trust_windows=32), noise(10, RATE))
    assert all(answers)
    assert len(network.windows) == pytest.approx(len(answers) * 4 / 36, abs=4)


def test_a_quieter_window_is_asked_about_although_speech_is_trusted():
    network = Network()
    activity = SileroVoiceActivity(network, trust_windows=1000)
    heard(activity, noise(1, RATE))
    asked = len(network.windows)
    network.hears = False
    assert not any(heard(activity, noise(0.5, RATE, rms=0.005)))
    assert len(network.windows) == asked + 15


def test_speech_that_became_noise_is_noticed_when_the_trust_ends():
    network = Network()
    activity = SileroVoiceActivity(network, trust_windows=32)
    heard(activity, noise(0.5, RATE))
    network.hears = False
    answers = heard(activity, noise(3, RATE))
    assert not any(answers[33:])


def test_the_network_forgets_after_silence_it_was_not_shown():
    network = Network()
    activity = SileroVoiceActivity(network)
    heard(activity, np.concatenate([noise(0.5, RATE), silence(5, RATE)]))
    assert network.resets == 1


@pytest.mark.model
def test_silero_hears_speech_and_neither_noise_nor_silence():
    silero = fetched_model("silero-vad")
    native = load_silero(silero.directory / silero.manifest.files["model"].path, 0.5)
    activity = SileroVoiceActivity(native)
    assert share(heard(activity, clip("austen-0870"))) > 0.7
    activity.reset()
    assert share(heard(activity, noise(3, RATE))) < 0.1
    activity.reset()
    assert share(heard(activity, silence(3, RATE))) == 0


@pytest.mark.model
def test_trusting_speech_changes_little_of_what_silero_hears():
    silero = fetched_model("silero-vad")
    native = load_silero(silero.directory / silero.manifest.files["model"].path, 0.5)
    asked = heard(SileroVoiceActivity(native), clip("austen-0870"))
    native.reset()
    trusted = heard(SileroVoiceActivity(native, trust_windows=32), clip("austen-0870"))
    assert share([one == other for one, other in zip(asked, trusted, strict=True)]) > 0.9
