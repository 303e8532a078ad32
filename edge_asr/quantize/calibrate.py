"""What a model is calibrated with: whole recordings of many voices, and the silence and noise around them.

Whole recordings, because a streaming model's caches are all zero in its first chunks and those alone would mislead;
silence and noise, because a device hears little else all day.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.quantize.evaluation_set import Recording
from edge_asr.sources.resample import StreamResampler
from edge_asr.workload import load_clip

MOST_AUDIO_S = 120.0
SILENCE_S = 2.0
NOISE_RMS = 0.01
"""-40 dBFS: a quiet room through a sensitive microphone."""
_LEAD_S = 0.3
"""Silence before and after each recording, which ends in the middle of nothing otherwise."""


def choose_recordings(
    recordings: Sequence[Recording], seed: int, most_audio_s: float = MOST_AUDIO_S
) -> list[Recording]:
    """Draw recordings, voice by voice in turns, until they are so long together; at least one.

    Args:
        recordings: Those that may be used; one content counts once.
        seed: Of the draw.
        most_audio_s: Bounds what calibration costs in time, memory and disk.
    """
    distinct = list({recording.sha256: recording for recording in recordings}.values())
    order = np.random.default_rng(seed).permutation(len(distinct))
    queues: dict[str, list[Recording]] = {}
    for index in order:
        queues.setdefault(distinct[index].clip.speaker, []).append(distinct[index])
    chosen: list[Recording] = []
    while queues:
        for speaker in list(queues):
            chosen.append(queues[speaker].pop())
            if not queues[speaker]:
                del queues[speaker]
            if sum(one.audio_s for one in chosen) >= most_audio_s:
                return chosen
    return chosen


def calibration_audio(recordings: Sequence[Recording], rate_hz: int, seed: int) -> list[Float32Array]:
    """The sound of the recordings at the model's rate, each between silences; then silence and noise by themselves.

    Returns:
        Mono, shape (n,) each, nominal range [-1, 1].

    Raises:
        InputError: A recording cannot be read.
    """
    lead = np.zeros(round(_LEAD_S * rate_hz), np.float32)
    spoken = [np.concatenate((lead, sound_of(recording, rate_hz), lead)) for recording in recordings]
    generator = np.random.default_rng(seed)
    count = round(SILENCE_S * rate_hz)
    noise = (NOISE_RMS * generator.standard_normal(count)).astype(np.float32)
    return [*spoken, np.zeros(count, np.float32), noise]


def sound_of(recording: Recording, rate_hz: int) -> Float32Array:
    """One recording at the model's rate, mono, nominal range [-1, 1].

    Raises:
        InputError: It cannot be read.
    """
    audio = load_clip(recording.clip)
    resampler = StreamResampler(audio.sample_rate_hz, rate_hz)
    samples = audio.samples.astype(np.float32) / np.float32(32768)
    return np.concatenate((resampler.process(samples), resampler.flush()))
