"""Recordings on disk and how to read them."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.sources.base import AudioSource


def tone(seconds: float = 0.5, rate_hz: int = 16_000, amplitude: float = 0.5) -> Float32Array:
    """A sine of 440 Hz."""
    return (amplitude * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate_hz)) / rate_hz)).astype(np.float32)


def read_all(source: AudioSource) -> Float32Array:
    """Every sample of a source, which is closed."""
    try:
        pieces = [chunk.samples for chunk in source]
        return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)
    finally:
        source.close()


def s16le(samples: Float32Array) -> bytes:
    """As 16-bit integers."""
    return np.round(samples * 32767).astype("<i2").tobytes()


def chunk(name: bytes, body: bytes, *, declared: int | None = None, is_padded: bool = True) -> bytes:
    """One RIFF chunk."""
    padding = b"\0" if len(body) % 2 and is_padded else b""
    return struct.pack("<4sI", name, len(body) if declared is None else declared) + body + padding


def format_chunk(tag: int = 1, channels: int = 1, rate_hz: int = 16_000, bits: int = 16, extra: bytes = b"") -> bytes:
    """The ``fmt`` chunk of a WAV file."""
    block = channels * bits // 8
    body = struct.pack("<HHIIHH", tag, channels, rate_hz, rate_hz * block, block, bits) + extra
    return chunk(b"fmt ", body)


def riff(*chunks: bytes) -> bytes:
    """A WAV file of these chunks."""
    body = b"WAVE" + b"".join(chunks)
    return struct.pack("<4sI", b"RIFF", len(body)) + body


@pytest.fixture
def write(tmp_path: Path):
    """Write bytes under a name in a fresh directory."""

    def write_bytes(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write_bytes
