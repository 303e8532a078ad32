"""The header of a WAV file, read by ourselves: for files whose header lies about sizes, and for pipes. Pure.

libsndfile reads every honest WAV file. It cannot read one from a pipe, gives nothing for a size of 0 (which recorders
that write to a pipe leave behind) and refuses a chunk of odd size that lacks its padding byte.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from edge_asr.requests import Encoding

RIFF_BYTES = 12
"""``RIFF``, a size that nobody needs, ``WAVE``."""

MAX_HEADER_BYTES = 1 << 20
"""The samples begin before this; a longer header (an album cover) is left to libsndfile."""

_STREAMED_FROM = 0x7FFF_0000
"""Recorders that cannot seek back write 0, 0xFFFFFFFF, or a size just below 2 or 4 GiB."""

_EXTENSIBLE = 0xFFFE
_KNOWN_CHUNKS = frozenset(
    (
        b"fmt ",
        b"data",
        b"LIST",
        b"INFO",
        b"fact",
        b"JUNK",
        b"junk",
        b"bext",
        b"cue ",
        b"PEAK",
        b"id3 ",
        b"ID3 ",
        b"smpl",
    )
)
_ENCODINGS: dict[tuple[int, int], Encoding] = {
    (1, 8): "u8",
    (1, 16): "s16le",
    (1, 24): "s24le",
    (1, 32): "s32le",
    (3, 32): "f32le",
    (6, 8): "alaw",
    (7, 8): "mulaw",
}
"""Format tag and bits of the container to the encoding."""


@dataclass(frozen=True, slots=True)
class WavHeader:
    """What stands before the samples."""

    encoding: Encoding | None
    """``None`` for a compressed or rare format, which libsndfile may know."""
    sample_rate_hz: int
    channels: int
    data_start: int
    """Bytes before the first sample."""
    data_bytes: int | None
    """Bytes of samples by the header; ``None`` where it was written before anybody knew."""
    is_well_formed: bool
    """Whether every odd chunk has its padding byte."""


def is_wav(head: bytes) -> bool:
    """Whether these first bytes begin a (little-endian) WAV file."""
    return head[:4] == b"RIFF" and head[8:RIFF_BYTES] == b"WAVE"


def parse_wav_header(head: bytes, *, is_whole: bool) -> WavHeader | None:
    """Read the header from the first bytes of a file.

    Args:
        head: As much of the beginning as there is.
        is_whole: ``head`` is the whole file, or as much as anyone will read: more bytes cannot help.

    Returns:
        The header, or ``None`` when more bytes are needed.

    Raises:
        ValueError: The header is damaged; the text says how.
    """
    if not is_wav(head):
        raise ValueError("it does not begin as a WAV file")
    offset = RIFF_BYTES
    format_chunk: bytes | None = None
    is_well_formed = True
    while len(head) >= offset + 8:
        chunk, size = struct.unpack_from("<4sI", head, offset)
        body = offset + 8
        if chunk == b"data":
            if format_chunk is None:
                raise ValueError("the samples come before their format")
            return _header(format_chunk, body, _data_bytes(size, head[body : body + 4]), is_well_formed)
        if chunk == b"fmt ":
            format_chunk = head[body : body + min(size, 40)]
        offset = body + size
        if size % 2:
            is_unpadded = head[offset : offset + 4] in _KNOWN_CHUNKS
            is_well_formed = is_well_formed and not is_unpadded
            offset += not is_unpadded
    if is_whole:
        raise ValueError("its header is cut off: no samples follow")
    return None


def _data_bytes(size: int, after: bytes) -> int | None:
    if size == 0 and after in _KNOWN_CHUNKS:
        return 0
    return None if size == 0 or size >= _STREAMED_FROM else size


def _header(format_chunk: bytes, data_start: int, data_bytes: int | None, is_well_formed: bool) -> WavHeader:
    if len(format_chunk) < 16:
        raise ValueError(f"its format chunk has {len(format_chunk)} bytes; at least 16 are needed")
    tag, channels, rate_hz, _, block_bytes, bits = struct.unpack_from("<HHIIHH", format_chunk)
    if tag == _EXTENSIBLE and len(format_chunk) >= 26:
        tag = struct.unpack_from("<H", format_chunk, 24)[0]
    if channels and block_bytes and block_bytes % channels == 0:
        bits = block_bytes // channels * 8  # 20 bits stand in 24, left-justified
    return WavHeader(
        encoding=_ENCODINGS.get((tag, bits)),
        sample_rate_hz=rate_hz,
        channels=channels,
        data_start=data_start,
        data_bytes=data_bytes,
        is_well_formed=is_well_formed,
    )
