"""What rooms, lines and microphones do to clean speech; all drawn from the generator that is passed in.

``strength`` in [0, 1] scales how often and how hard: 0 leaves the sound as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import soxr
from scipy.fft import irfft, next_fast_len, rfft, rfftfreq
from scipy.signal import butter, fftconvolve, sosfilt

Float32Array = npt.NDArray[np.float32]
RATE_HZ = 16_000


def coloured_noise(samples: int, slope: float, draw: np.random.Generator) -> Float32Array:
    """Noise whose power falls with frequency to the power ``slope`` (0 white, 1 pink, 2 brown), unit RMS."""
    spectrum = np.fft.rfft(draw.standard_normal(samples))
    spectrum[1:] /= np.arange(1, spectrum.size) ** (slope / 2)
    spectrum[0] = 0
    noise = np.fft.irfft(spectrum, samples)
    return (noise / (noise.std() + 1e-9)).astype(np.float32)


def hum(samples: int, draw: np.random.Generator) -> Float32Array:
    """Mains hum with harmonics, unit RMS."""
    base = draw.choice([50.0, 60.0, 100.0, 120.0])
    time = np.arange(samples) / RATE_HZ
    wave = sum(np.sin(2 * np.pi * base * k * time + draw.uniform(0, 6.3)) / k for k in range(1, 6))
    return (wave / wave.std()).astype(np.float32)


def mix(sound: Float32Array, noise: Float32Array, snr_db: float) -> Float32Array:
    """Add ``noise`` at the given ratio of powers."""
    power = float(np.mean(sound**2)) + 1e-9
    scale = np.sqrt(power / (float(np.mean(noise**2)) + 1e-9) / 10 ** (snr_db / 10))
    return sound + noise * np.float32(scale)


def room(sound: Float32Array, draw: np.random.Generator) -> Float32Array:
    """Reverberation: a direct path and an exponentially falling tail of 0.1 to 0.5 s."""
    decay_s = draw.uniform(0.1, 0.5)
    tail = draw.standard_normal(int(decay_s * RATE_HZ)) * np.exp(-6.9 * np.linspace(0, 1, int(decay_s * RATE_HZ)))
    tail *= draw.uniform(0.1, 0.6) / np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    return fftconvolve(sound, tail)[: sound.size].astype(np.float32)


def band(sound: Float32Array, draw: np.random.Generator) -> Float32Array:
    """A telephone line, an 8 kHz recording, a small loudspeaker or a muffled microphone."""
    low, high = [(300, 3400), (60, 3700), (200, 7000), (50, 2800)][draw.integers(4)]
    low, high = low * draw.uniform(0.8, 1.2), min(7900.0, high * draw.uniform(0.95, 1.1))
    filtered = sosfilt(butter(3, [low, high], "bandpass", fs=RATE_HZ, output="sos"), sound)
    return filtered.astype(np.float32)


def telephone(sound: Float32Array, draw: np.random.Generator) -> Float32Array:
    """What is left of a recording at 8 kHz, every second time with the eight bits of the µ-law (ITU-T G.711)."""
    narrow = soxr.resample(sound, RATE_HZ, RATE_HZ // 2)
    if draw.random() < 0.5:
        peak = float(np.abs(narrow).max()) + 1e-9
        compressed = np.sign(narrow) * np.log1p(255 * np.abs(narrow) / peak) / np.log(256)
        coarse = np.round(compressed * 127) / 127
        narrow = (np.sign(coarse) * np.expm1(np.abs(coarse) * np.log(256)) / 255 * peak).astype(np.float32)
    return np.resize(soxr.resample(narrow, RATE_HZ // 2, RATE_HZ), sound.size).astype(np.float32)


def colour(sound: Float32Array, draw: np.random.Generator) -> Float32Array:
    """What a microphone and its distance do: a smooth curve over the octaves, at most 9 dB up or down."""
    size = next_fast_len(sound.size, real=True)
    curve_db = np.interp(
        np.log2(np.maximum(rfftfreq(size, 1 / RATE_HZ), 60)), np.linspace(np.log2(60), 13, 7), draw.uniform(-9, 9, 7)
    )
    shaped = irfft(rfft(sound, size) * (10 ** (curve_db / 20)).astype(np.float32), size)[: sound.size]
    return shaped * np.float32(np.abs(sound).max() / (np.abs(shaped).max() + 1e-9))


def change_speed(sound: Float32Array, factor: float) -> Float32Array:
    """Faster and higher (above 1) or slower and lower."""
    places = np.arange(0, sound.size - 1, factor)
    return np.interp(places, np.arange(sound.size), sound).astype(np.float32)


def noise_like_a_place(
    samples: int, draw: np.random.Generator, other_speech: Callable[[], Float32Array]
) -> Float32Array:
    """Fan, street, hum, or people talking."""
    kind = draw.integers(5)
    if kind == 0:
        return hum(samples, draw) + 0.3 * coloured_noise(samples, 1.0, draw)
    if kind == 1:
        talkers = [np.resize(other_speech(), samples) for _ in range(draw.integers(2, 5))]
        return np.sum(talkers, axis=0, dtype=np.float32)
    return coloured_noise(samples, draw.uniform(0, 2.2), draw)


def augment(
    sound: Float32Array, strength: float, draw: np.random.Generator, other_speech: Callable[[], Float32Array]
) -> Float32Array:
    """The full chain: speed, room, silences around, microphone, band, noise, level, clipping."""
    if draw.random() < 0.7 * strength:
        sound = change_speed(sound, draw.uniform(0.86, 1.18))
    if draw.random() < 0.4 * strength:
        sound = room(sound, draw)
    # Recordings cut to the word begin without a pause.
    pause_s = draw.uniform(0.05, 0.6) if draw.random() < 0.8 else 0.02
    sound = np.pad(sound, (int(pause_s * RATE_HZ), int(draw.uniform(0.3, 0.8) * RATE_HZ)))
    if draw.random() < 0.7 * strength:
        sound = colour(sound, draw)
    if draw.random() < 0.4 * strength:
        sound = telephone(sound, draw)
    elif draw.random() < 0.3 * strength:
        sound = band(sound, draw)
    if draw.random() < 0.6 * strength:
        noise = noise_like_a_place(sound.size, draw, other_speech)
        sound = mix(sound, noise, draw.uniform(5, 30))
    peak = float(np.abs(sound).max()) + 1e-6
    sound = sound * np.float32(10 ** (draw.uniform(-26, 0) / 20) / peak)
    if draw.random() < 0.05 * strength:
        sound = np.clip(sound * 4, -0.9, 0.9)
    return sound.astype(np.float32)


def other_throat(features: Float32Array, factor: float) -> Float32Array:
    """As if the speaker's vocal tract were ``factor`` times as long: the envelope moves along the frequencies.

    ``features`` are (frames, 80) log mel energies from 20 to 7600 Hz, as ``features.py`` makes them. Vocal tract length
    perturbation after Jaitly and Hinton, 2013, without the fold at the upper edge: the last band is held instead.
    """
    lowest, highest = _mel(20.0), _mel(7600.0)
    centres = np.linspace(lowest, highest, features.shape[1] + 2)[1:-1]
    hertz = 700 * np.expm1(centres / 1127)
    places = (np.array([_mel(f * factor) for f in hertz]) - centres[0]) / (centres[1] - centres[0])
    places = np.clip(places, 0, features.shape[1] - 1)
    below = np.minimum(places.astype(int), features.shape[1] - 2)
    share = (places - below).astype(np.float32)
    return features[:, below] * (1 - share) + features[:, below + 1] * share


def _mel(hertz: float) -> float:
    return float(1127 * np.log1p(hertz / 700))


def mask_features(features: Float32Array, strength: float, draw: np.random.Generator) -> Float32Array:
    """SpecAugment: up to two stretches of bins and of time are replaced by the mean."""
    fill = features.mean()
    for _ in range(2):
        if draw.random() < 0.5 * strength:
            first, width = draw.integers(0, 70), draw.integers(2, 14)
            features[:, first : first + width] = fill
        if draw.random() < 0.4 * strength:
            first, width = draw.integers(0, max(1, len(features) - 20)), draw.integers(3, 14)
            features[first : first + width] = fill
    return features
