"""What every client program sends: two commands with a pause between them that closes a segment."""

from __future__ import annotations

import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile as sf

from edge_asr.sources.resample import StreamResampler
from edge_asr.workload import BUNDLED

RATE_HZ = 16_000
PAUSE_S = 1.6
"""Longer than the endpoint rule waits."""

# Commands that both bundled models hear rightly also through a telephone's 8 kHz.
SEGMENTS = ("pick up the box", "turn back forty nine degrees")
CLIPS = ("pick-up-the-box-george.flac", "turn-back-forty-nine-nova.flac")


@dataclass(frozen=True)
class Recording:
    """Audio in the forms that protocols want, and what is said in it."""

    samples: np.ndarray
    """Float, mono, 16 kHz, shape (n,)."""
    path: Path
    """The same as a WAV file of 16 bit."""
    segments: tuple[str, ...] = SEGMENTS

    @property
    def text(self) -> str:
        """All that is said."""
        return " ".join(self.segments)

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / RATE_HZ

    @property
    def pcm(self) -> bytes:
        """16 bit at 16 kHz."""
        return as_pcm(self.samples)

    @property
    def floats(self) -> bytes:
        """32-bit floats at 16 kHz."""
        return self.samples.astype("<f4").tobytes()

    def at(self, rate_hz: int) -> np.ndarray:
        """The samples at another rate."""
        resampler = StreamResampler(RATE_HZ, rate_hz)
        return np.concatenate([resampler.process(self.samples), resampler.flush()])


def make_recording(folder: Path) -> Recording:
    """Join the bundled clips; the WAV file is written into the folder."""
    pause = np.zeros(round(PAUSE_S * RATE_HZ), np.float32)
    clips = [sf.read(BUNDLED.parent / name, dtype="float32")[0] for name in CLIPS]
    samples = np.concatenate([clips[0], pause, clips[1]])
    path = folder / "two-commands.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(as_pcm(samples))
    return Recording(samples, path)


def as_pcm(samples: np.ndarray) -> bytes:
    """16 bit, little-endian."""
    return bytes(np.round(np.clip(samples, -1, 1) * 32767).astype("<i2"))


def pieces(data: bytes, size: int) -> list[bytes]:
    """Cut bytes into messages."""
    return [data[start : start + size] for start in range(0, len(data), size)]
