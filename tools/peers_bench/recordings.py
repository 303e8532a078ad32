"""The audio of a run, as every peer gets it: 16 kHz, mono, 16 bit, in memory and as WAV."""

from __future__ import annotations

import random
import wave
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from edge_asr.sources.resample import StreamResampler
from edge_asr.workload import OPEN_VOCABULARY, Clip, load_clip

RATE_HZ = 16_000
PIECE_S = 0.1
"""What a client sends at a time."""
PIECE_SAMPLES = round(PIECE_S * RATE_HZ)
PAUSE_S = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """One recording."""

    name: str
    path: Path
    """WAV."""
    samples: npt.NDArray[np.int16]
    """Mono, shape (n,)."""
    reference: str
    """What is said; empty where nobody wrote it down."""
    vocabulary: str = OPEN_VOCABULARY
    """Which words may be in it."""

    @property
    def audio_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / RATE_HZ


def pieces(recordings: Sequence[Recording]) -> Iterator[npt.NDArray[np.int16]]:
    """The recordings one after the other without a gap, shape (1600,) each: only the very last may be shorter.

    So the number of a piece tells which audio it is.
    """
    samples = np.concatenate([recording.samples for recording in recordings])
    for first in range(0, len(samples), PIECE_SAMPLES):
        yield samples[first : first + PIECE_SAMPLES]


def prepare(clips: tuple[Clip, ...], folder: Path) -> tuple[Recording, ...]:
    """Decode the clips into ``folder``.

    Raises:
        InputError: One cannot be read.
    """
    return tuple(_prepared(clip, folder / f"{number:03}.wav") for number, clip in enumerate(clips))


def joined(recordings: Sequence[Recording], least_s: float, folder: Path, seed: int) -> Recording:
    """The recordings one after the other in a drawn order, with pauses, as often as it takes.

    Long enough that the start of a decoder and the padding at the end weigh little.
    """
    order, parts, audio_s = random.Random(seed), [], 0.0  # noqa: S311  not a secret
    while audio_s < least_s:
        for recording in order.sample(recordings, len(recordings)):
            parts += [recording.samples, np.zeros(round(PAUSE_S * RATE_HZ), np.int16)]
            audio_s += recording.audio_s + PAUSE_S
    path = folder / f"joined-{seed}.wav"
    samples = np.concatenate(parts)
    _write(path, samples)
    return Recording(path.stem, path, samples, "")


def silence(folder: Path, seconds: float) -> Path:
    """A silent WAV: what it costs a program to start."""
    path = folder / f"silence-{seconds}.wav"
    _write(path, np.zeros(round(seconds * RATE_HZ), np.int16))
    return path


def _prepared(clip: Clip, path: Path) -> Recording:
    audio = load_clip(clip)
    samples = audio.samples
    if audio.sample_rate_hz != RATE_HZ:
        resampler = StreamResampler(audio.sample_rate_hz, RATE_HZ)
        parts = resampler.process(samples.astype(np.float32) / np.float32(32768)), resampler.flush()
        samples = np.round(np.clip(np.concatenate(parts), -1, 1) * 32767).astype(np.int16)
    _write(path, samples)
    return Recording(clip.name, path, samples, clip.reference, clip.vocabulary)


def _write(path: Path, samples: npt.NDArray[np.int16]) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(samples.astype("<i2").tobytes())
