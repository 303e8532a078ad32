"""A WAV file of audio as a client writes it, in whatever encoding; no sample is looked at. Standard library only."""

from __future__ import annotations

import struct
from pathlib import Path

from edge_asr.requests import SAMPLE_BYTES, Encoding, SessionOptions

_FORMATS: dict[Encoding, int] = {"f32le": 3, "alaw": 6, "mulaw": 7}
_PCM = 1
_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
"""RIFF, its size, WAVE, "fmt ", 16, format, channels, rate, bytes a second, frame, bits, "data", its size."""


class WavFile:
    """Grows with every piece; its header is right once it is closed.

    Args:
        path: Must not exist.
        options: How the audio is written.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, path: Path, options: SessionOptions) -> None:
        self._options = options
        self._bytes = 0
        self._file = path.open("xb")
        self._write_header()

    def add(self, data: bytes) -> None:
        """The next piece; need not end on a sample."""
        self._file.write(data)
        self._bytes += len(data)

    def close(self) -> None:
        """Write the sizes; closing twice is allowed."""
        if not self._file.closed:
            try:
                self._file.seek(0)
                self._write_header()
            finally:
                self._file.close()

    def _write_header(self) -> None:
        options = self._options
        bits = 8 * SAMPLE_BYTES[options.encoding]
        kind = _FORMATS.get(options.encoding, _PCM)
        layout = (kind, options.channels, options.sample_rate_hz, options.bytes_per_second, options.frame_bytes, bits)
        riff_bytes = _HEADER.size - 8 + self._bytes
        self._file.write(_HEADER.pack(b"RIFF", riff_bytes, b"WAVE", b"fmt ", 16, *layout, b"data", self._bytes))
