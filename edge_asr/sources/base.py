"""The contract of an audio source, and how blocks of samples become numbered chunks.

A source is read once, by one thread. The chunks it yields follow one another without a hole unless ``gap_samples``
says so, and all have the source's rate. The end of the audio is the end of the iteration; anything that prevents
reading is an exception, raised when the source is opened or while it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from edge_asr.audio import AudioChunk, Float32Array
from edge_asr.errors import AudioUnreadable
from edge_asr.requests import MAX_SAMPLE_RATE_HZ, MIN_SAMPLE_RATE_HZ

BLOCK_FRAMES = 8192
"""Samples of each channel read at a time: half a second at 16 kHz. Bounds the memory whatever the length."""

MAX_FILE_CHANNELS = 64
"""Channels of a recording; more is a damaged header."""

WIDE_BAND_HZ = 16_000
"""Recordings below this rate lack what the models were trained on."""


class AudioSource(Protocol):
    """One channel of audio (or a mix of several), read block by block."""

    @property
    def sample_rate_hz(self) -> int:
        """Rate of every chunk."""
        ...

    @property
    def channels(self) -> int:
        """Channels of the recording, of which one or the mix is yielded."""
        ...

    @property
    def duration_s(self) -> float | None:
        """Length in seconds; ``None`` when it cannot be known before the end."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """Sentences about the audio; complete once everything is read."""
        ...

    def __iter__(self) -> Iterator[AudioChunk]:
        """The chunks in order.

        Raises:
            AudioUnreadable: There is no audio, or it cannot be decoded from the start.
        """
        ...

    def close(self) -> None:
        """Free files and processes; closing twice is allowed."""
        ...


def numbered(blocks: Iterable[Float32Array], sample_rate_hz: int) -> Iterator[AudioChunk]:
    """Turn consecutive blocks, each of shape (n,), into chunks; empty blocks are left out."""
    position = 0
    for samples in blocks:
        if len(samples):
            yield AudioChunk(samples, sample_rate_hz, position, captured_ns=0)
            position += len(samples)


def check_layout(name: str, sample_rate_hz: int, channels: int) -> None:
    """Refuse what no recording has.

    Raises:
        AudioUnreadable: The rate or the number of channels is outside what is accepted.
    """
    if not MIN_SAMPLE_RATE_HZ <= sample_rate_hz <= MAX_SAMPLE_RATE_HZ:
        raise AudioUnreadable(
            name,
            f"the header says {sample_rate_hz} Hz; {MIN_SAMPLE_RATE_HZ} to {MAX_SAMPLE_RATE_HZ} Hz are accepted",
        )
    if not 1 <= channels <= MAX_FILE_CHANNELS:
        raise AudioUnreadable(name, f"the header says {channels} channels; 1 to {MAX_FILE_CHANNELS} are accepted")


def rate_warnings(sample_rate_hz: int) -> list[str]:
    """What to say about a recording's rate."""
    if sample_rate_hz >= WIDE_BAND_HZ:
        return []
    return [f"{sample_rate_hz} Hz is the telephone band; accuracy is lower than at {WIDE_BAND_HZ} Hz"]
