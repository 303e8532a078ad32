"""Bytes as clients and headers write samples, to mono float32; cut anywhere, also inside a sample.

Pure: no I/O. Integers are scaled so that full scale is 1; floats are taken as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from edge_asr.audio import Float32Array
from edge_asr.errors import ConfigurationError
from edge_asr.requests import MAX_CHANNELS, MAX_SAMPLE_RATE_HZ, MIN_SAMPLE_RATE_HZ, SAMPLE_BYTES, Encoding
from edge_asr.sources.channels import ChannelChoice, select_channel


@dataclass(frozen=True, slots=True)
class PcmLayout:
    """How interleaved samples are written."""

    encoding: Encoding
    sample_rate_hz: int
    channels: int

    def __str__(self) -> str:
        """As :func:`parse_layout` reads it."""
        return f"{self.encoding}:{self.sample_rate_hz}:{self.channels}"

    @property
    def frame_bytes(self) -> int:
        """Bytes of one sample of all channels."""
        return SAMPLE_BYTES[self.encoding] * self.channels

    @property
    def bytes_per_second(self) -> int:
        """Bytes of one second."""
        return self.frame_bytes * self.sample_rate_hz


def parse_layout(text: str) -> PcmLayout:
    """Read ``ENCODING:RATE:CHANNELS``, such as ``s16le:16000:1``; the channels may be left out.

    Raises:
        ConfigurationError: The text is not of that form, or names what nobody records.
    """
    encoding, _, rest = text.partition(":")
    rate, _, channels = rest.partition(":")
    if encoding not in SAMPLE_BYTES:
        raise ConfigurationError(f"raw format {text!r}: the encoding is one of {', '.join(SAMPLE_BYTES)}")
    if not (_is_number(rate) and MIN_SAMPLE_RATE_HZ <= int(rate) <= MAX_SAMPLE_RATE_HZ):
        raise ConfigurationError(
            f"raw format {text!r}: the rate is {MIN_SAMPLE_RATE_HZ} to {MAX_SAMPLE_RATE_HZ} Hz, as in s16le:16000:1"
        )
    if not (_is_number(channels or "1") and 1 <= int(channels or "1") <= MAX_CHANNELS):
        raise ConfigurationError(f"raw format {text!r}: 1 to {MAX_CHANNELS} channels are accepted, as in s16le:16000:1")
    return PcmLayout(encoding, int(rate), int(channels or "1"))


class PcmDecoder:
    """Decodes one stream of interleaved samples; keeps the bytes of an unfinished frame for the next call."""

    def __init__(self, encoding: Encoding, channels: int = 1, channel: ChannelChoice = "mix") -> None:
        if channels < 1:
            raise ValueError(f"{channels} channels: at least one is needed")
        self._to_float = _TO_FLOAT[encoding]
        self._channels = channels
        self._channel = channel
        self._frame_bytes = SAMPLE_BYTES[encoding] * channels
        self._rest = b""

    @property
    def pending_bytes(self) -> int:
        """Bytes of a frame that has begun and not ended."""
        return len(self._rest)

    def decode(self, data: bytes) -> Float32Array:
        """Take the next bytes.

        Returns:
            Mono PCM of every frame that is complete, shape (n,); n may be 0.
        """
        if self._rest:
            data = self._rest + data
        whole = len(data) - len(data) % self._frame_bytes
        self._rest = data[whole:]
        frames = self._to_float(memoryview(data)[:whole]).reshape(-1, self._channels)
        return select_channel(frames, self._channel)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


Buffer = bytes | memoryview


def _from_s16le(data: Buffer) -> Float32Array:
    return _scaled(np.frombuffer(data, "<i2"), 2.0**-15)


def _from_s24le(data: Buffer) -> Float32Array:
    # Three bytes become the upper three of a 32-bit integer, which keeps the sign.
    wide = np.zeros((len(data) // 3, 4), np.uint8)
    wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
    return _scaled(wide.reshape(-1).view("<i4"), 2.0**-31)


def _from_s32le(data: Buffer) -> Float32Array:
    return _scaled(np.frombuffer(data, "<i4"), 2.0**-31)


def _from_f32le(data: Buffer) -> Float32Array:
    return np.frombuffer(data, "<f4").astype(np.float32)


def _from_u8(data: Buffer) -> Float32Array:
    return _scaled(np.frombuffer(data, np.uint8).astype(np.int16) - 128, 2.0**-7)


def _from_mulaw(data: Buffer) -> Float32Array:
    return _MULAW[np.frombuffer(data, np.uint8)]


def _from_alaw(data: Buffer) -> Float32Array:
    return _ALAW[np.frombuffer(data, np.uint8)]


def _scaled(integers: npt.NDArray[np.signedinteger[Any]], factor: float) -> Float32Array:
    samples = integers.astype(np.float32)
    samples *= np.float32(factor)
    return samples


def _mulaw_table() -> Float32Array:
    """G.711 mu-law: inverted bits, then sign, three bits of exponent, four of mantissa with a bias of 33."""
    code = ~np.arange(256) & 0xFF
    magnitude = ((((code & 0x0F) << 3) + 0x84) << ((code >> 4) & 7)) - 0x84
    return (np.where(code & 0x80, -magnitude, magnitude) / 2.0**15).astype(np.float32)


def _alaw_table() -> Float32Array:
    """G.711 A-law: every second bit inverted, then sign, three bits of exponent, four of mantissa."""
    code = np.arange(256) ^ 0x55
    exponent = (code >> 4) & 7
    magnitude = ((code & 0x0F) << 4) + 8 + np.where(exponent > 0, 0x100, 0)
    magnitude <<= np.maximum(exponent - 1, 0)
    return (np.where(code & 0x80, magnitude, -magnitude) / 2.0**15).astype(np.float32)


_MULAW = _mulaw_table()
_ALAW = _alaw_table()

_TO_FLOAT: Mapping[Encoding, Callable[[Buffer], Float32Array]] = MappingProxyType(
    {
        "s16le": _from_s16le,
        "s24le": _from_s24le,
        "s32le": _from_s32le,
        "f32le": _from_f32le,
        "u8": _from_u8,
        "mulaw": _from_mulaw,
        "alaw": _from_alaw,
    }
)
