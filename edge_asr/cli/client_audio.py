"""Recordings as ``client`` sends them: samples at the rate of the protocol, or files as they are."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edge_asr.audio import AudioChunk, Float32Array
from edge_asr.cli.recordings import STANDARD_INPUT
from edge_asr.errors import AudioNotFound, AudioUnreadable
from edge_asr.sources.resample import StreamResampler

_UPLOAD_PIECE_BYTES = 64 << 10


@dataclass(slots=True)
class Length:
    """How much audio has passed."""

    seconds: float = 0.0


def resampled(chunks: Iterator[AudioChunk], from_hz: int, to_hz: int, length: Length) -> Iterator[Float32Array]:
    """The samples at another rate, each of shape (n,); counted in ``length`` as they pass."""
    resampler = StreamResampler(from_hz, to_hz)
    for chunk in chunks:
        length.seconds += chunk.duration_s
        yield resampler.process(chunk.samples)
    yield resampler.flush()


async def pcm_pieces(samples: Iterator[Float32Array]) -> AsyncIterator[bytes]:
    """As 16-bit bytes. Reading and pacing block, so they run beside the event loop."""
    while (piece := await asyncio.to_thread(next, samples, None)) is not None:
        if len(piece):
            yield _as_s16le(piece)


def _as_s16le(samples: Float32Array) -> bytes:
    return np.round(np.clip(samples, -1.0, 1.0) * 32767.0).astype("<i2").tobytes()


def file_pieces(file: str) -> Iterator[bytes]:
    """A file as it is.

    Raises:
        AudioNotFound: There is none.
        AudioUnreadable: It cannot be read.
    """
    if file == STANDARD_INPUT:
        while piece := sys.stdin.buffer.read(_UPLOAD_PIECE_BYTES):
            yield piece
        return
    try:
        with Path(file).open("rb") as stream:
            while piece := stream.read(_UPLOAD_PIECE_BYTES):
                yield piece
    except FileNotFoundError:
        raise AudioNotFound(file) from None
    except OSError as error:
        raise AudioUnreadable(file, f"cannot be read: {error.strerror}") from error
